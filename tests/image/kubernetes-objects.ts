/** The parts of manifests that a cluster acts on, and what is around a cluster. */
import assert from 'node:assert/strict'
import { chmod, chown, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubernetesObject } from '../support/kubernetes-objects.ts'

export interface Mount {
  name: string
  mountPath: string
  readOnly?: boolean
}

export interface Volume {
  name: string
  emptyDir?: object
  configMap?: { name: string }
  secret?: { secretName: string; items?: { key: string; path: string }[] }
}

export interface Probe {
  exec?: { command: string[] }
  httpGet?: { path: string; port: string | number }
  tcpSocket?: { port: string | number }
}

export interface IngressSpec {
  rules: { host: string; http: { paths: { backend: { service: { name: string; port: { name: string } } } }[] } }[]
}

export const isNamed =
  (name: string) =>
  (one: { name: string }): boolean =>
    one.name === name

/** What docs/operating/install.md puts into each secret. */
const keysOfSecrets: Readonly<Record<string, readonly string[]>> = {
  atrium: ['database-url', 'redis-url', 'admin-token', 'master-key', 's3-access-key-id', 's3-secret-access-key'],
  'atrium-space': ['database-url', 'space-signing-key'],
}

interface VolumeSources {
  configMap(name: string): Record<string, string>
  secret(key: string): Promise<Buffer>
  /** `fsGroup`; without one, the volume is of the user. */
  group: number
}

/** A folder with what the volume has. */
export async function makePodVolume(
  folder: string,
  volume: Volume,
  { configMap, secret, group }: VolumeSources,
): Promise<string> {
  const path = await mkdtemp(join(folder, `${volume.name}-`))
  const { secret: source } = volume
  const files: [string, string | Buffer][] = []
  if (volume.configMap) files.push(...Object.entries(configMap(volume.configMap.name)))
  else if (source) {
    const keys = keysOfSecrets[source.secretName]
    assert.ok(keys, `a secret ${source.secretName}`)
    const items = source.items ?? keys.map((key) => ({ key, path: key }))
    for (const { key, path: name } of items) files.push([name, await secret(key)])
  } else assert.ok(volume.emptyDir, `a volume ${volume.name}`)
  for (const [name, content] of files) {
    const file = join(path, name)
    await writeFile(file, content)
    await chmod(file, volume.configMap ? 0o644 : 0o440)
    await chown(file, 0, group)
  }
  await chown(path, 0, group)
  await chmod(path, volume.emptyDir ? 0o2777 : 0o2755)
  return path
}

/**
 * A Caddyfile for all that is outside of the pods: the ingress controller, the identity provider with its keys, the store
 * of files, and a host that nobody named.
 */
export function outsideOf(
  { rules }: IngressSpec,
  objects: readonly KubernetesObject[],
  { issuer, keys, others }: { issuer: string; keys: string; others: readonly string[] },
): string {
  const sites = rules.map(({ host, http }) => {
    assert.equal(http.paths.length, 1, host)
    const { name, port } = http.paths[0]!.backend.service
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
    assert.ok(service, `a service ${name}`)
    const found = (service.spec.ports as { name: string; port: number }[]).find(isNamed(port.name))
    assert.ok(found, `${name} has a port ${port.name}`)
    return `${host} {\n\ttls internal\n\treverse_proxy ${name}:${found.port}\n}`
  })
  const discovery = { issuer: `https://${issuer}`, jwks_uri: `https://${keys}/keys` }
  const answers = [
    `\trespond /.well-known/openid-configuration \`${JSON.stringify(discovery)}\``,
    `\trespond /keys \`${JSON.stringify({ keys: [] })}\``,
    '\trespond 200',
  ]
  return `${[...sites, `${others.join(', ')} {\n\ttls internal\n${answers.join('\n')}\n}`].join('\n')}\n`
}
