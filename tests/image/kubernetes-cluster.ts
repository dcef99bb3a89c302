/** What a cluster does with the rendered manifests, with one pod of each workload. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken } from '../support/atrium-process.ts'
import type { KubernetesObject } from '../support/kubernetes-objects.ts'
import { makeAuthority } from './authority.ts'
import { root, run } from './build.ts'
import { type Container, type Image, outputOf, startContainer } from './container.ts'
import { type IngressSpec, isNamed, makePodVolume, type Mount, outsideOf, type Probe, type Volume } from './kubernetes-objects.ts'
import { commandOn, type Networks, openNetworks } from './network.ts'
import { standIns } from './stand-ins.ts'

const workloads = ['api', 'worker', 'space', 'egress-proxy', 'migrate']
/** Space is not in `outside`, as the network policies leave it: its way out is the proxy. */
const ranges = { inside: '10.87.1', outside: '10.87.2', front: '10.87.3' }

export interface Cluster {
  hosts: { api: string; space: string }
  /** The address of all that is outside. */
  outside: string
  pod(name: string): Container
  /** Asks what the probes of its container name, as the node does, until all succeed. */
  assertProbes(name: string): Promise<void>
  /** What its manifest lets it be and do. */
  allowed(name: string): { user: number; writable: string[] }
  /** As somebody outside of the cluster. */
  ask(url: string, options: readonly string[]): Promise<{ status: number; text: string }>
  commandOn(name: string, command: readonly string[]): string[]
  stop(): Promise<void>
}

export async function startCluster(
  folder: string,
  images: { atrium: Image; proxy: Image },
  objects: readonly KubernetesObject[],
): Promise<Cluster> {
  const workload = (name: string) => {
    const found = objects.find(({ kind, metadata }) => ['Deployment', 'Job'].includes(kind) && metadata.name === name)
    assert.ok(found, name)
    return found.spec.template.spec
  }
  const configMap = (name: string) => {
    const found = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)
    assert.ok(found?.data, name)
    return found.data
  }
  const ingress = objects.find(({ kind }) => kind === 'Ingress')!.spec as IngressSpec
  const hostOf = (service: string) =>
    ingress.rules.find(({ http }) => http.paths.some(({ backend }) => backend.service.name === service))!.host
  const hosts = { api: hostOf('api'), space: hostOf('space') }
  const { OIDC_ISSUER = '', S3_ENDPOINT = '' } = configMap(workload('api').containers[0].envFrom[0].configMapRef.name as string)
  const issuer = new URL(OIDC_ISSUER).hostname
  const egressMap = configMap(workload('egress-proxy').volumes.find(isNamed('hosts')).configMap.name as string)
  const allowed = (egressMap['hosts'] ?? '').trim().split('\n')
  const keys = allowed.find((host) => host !== issuer && host !== hosts.api) ?? issuer
  const others = [issuer, keys, new URL(S3_ENDPOINT).hostname, 'elsewhere.example']

  const networks: Networks = await openNetworks(join(folder, 'hosts'), ranges, {
    api: { networks: ['inside', 'outside', 'front'] },
    worker: { networks: ['inside', 'outside'] },
    space: { networks: ['inside', 'front'] },
    'egress-proxy': { networks: ['inside', 'outside'] },
    migrate: { networks: ['inside'] },
    postgres: { networks: ['inside'] },
    redis: { networks: ['inside'] },
    // All of the Internet.
    outside: { networks: ['outside'], aliases: { outside: others } },
    // The controller.
    ingress: { networks: ['outside', 'front'], aliases: { outside: [hosts.api, hosts.space] } },
  })
  const running = new Map<string, Container>()
  const said = () => [...running].map(([name, one]) => `--- ${name}\n${one.output().slice(-3_000)}`).join('\n')
  const secrets = join(folder, 'secrets')
  await mkdir(secrets, { mode: 0o700 })
  await writeFile(join(secrets, 'admin-token'), adminToken)
  const addresses = { DATABASE_HOST: 'postgres:5432', REDIS_HOST: 'redis:6379' }
  await run('sh', [join(root, 'deploy/make-secrets.sh'), secrets], { env: { ...process.env, ...addresses } })
  for (const name of ['s3-access-key-id', 's3-secret-access-key']) await writeFile(join(secrets, name), name)
  const caddyData = join(folder, 'caddy')
  const authority = await makeAuthority(join(caddyData, 'caddy/pki/authorities/local'))
  const caddyfile = join(folder, 'Caddyfile')
  await writeFile(caddyfile, outsideOf(ingress, objects, { issuer, keys, others }))

  const startStandIn = (name: string, image: string, args: string[], env: Record<string, string>, volumes: string[]) => {
    const rights = { readOnlyRoot: false, noNewPrivileges: false, dropCapabilities: false }
    const host = networks.host(name)
    running.set(name, startContainer(standIns[image]!(), { args, env, volumes, host, rights }))
  }
  const startPod = async (name: string) => {
    const pod = workload(name)
    const [container] = pod.containers
    const volumes: string[] = []
    for (const { name: volume, mountPath, readOnly } of container.volumeMounts as Mount[]) {
      const source = pod.volumes.find(isNamed(volume)) as Volume
      const group = (pod.securityContext.fsGroup ?? pod.securityContext.runAsGroup) as number
      const path = await makePodVolume(folder, source, { configMap, secret: (key) => readFile(join(secrets, key)), group })
      volumes.push([path, mountPath, ...(readOnly ? ['ro'] : [])].join(':'))
    }
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext
    const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } = container.securityContext
    const environment = [
      ...(container.envFrom ?? []).flatMap((one: { configMapRef: { name: string } }) =>
        Object.entries(configMap(one.configMapRef.name)),
      ),
      ...(container.env ?? []).map((one: { name: string; value: string }) => [one.name, one.value]),
    ] as [string, string][]
    const image = name === 'egress-proxy' ? images.proxy : images.atrium
    assert.match(container.image as string, name === 'egress-proxy' ? /\/atrium-egress-proxy:/ : /\/atrium:/)
    running.set(
      name,
      startContainer(image, {
        args: container.args ?? [],
        ...(container.command && { entrypoint: container.command }),
        env: { ...Object.fromEntries(environment), NODE_EXTRA_CA_CERTS: '/run/authority.crt' },
        volumes: [...volumes, `${authority}:/run/authority.crt:ro`],
        host: networks.host(name),
        ...(name === 'egress-proxy' && { pipe: join(folder, 'output') }),
        rights: {
          user: `${runAsUser}:${runAsGroup}`,
          groups: fsGroup === undefined ? [] : [fsGroup],
          readOnlyRoot: readOnlyRootFilesystem === true,
          noNewPrivileges: allowPrivilegeEscalation === false,
          dropCapabilities: capabilities?.drop?.includes('ALL') === true,
        },
      }),
    )
  }
  const probe = async (name: string, { exec, httpGet, tcpSocket }: Probe): Promise<string | undefined> => {
    if (exec) {
      const { code, output } = await running.get(name)!.exec(...exec.command)
      return code === 0 ? undefined : `${name}: ${output}`
    }
    const ports = workload(name).containers[0].ports as { name: string; containerPort: number }[]
    const port = (httpGet ?? tcpSocket)!.port
    const path = httpGet?.path ?? ''
    const number = typeof port === 'number' ? port : ports.find(isNamed(port))!.containerPort
    const at = `${name}:${number}`
    const check = httpGet
      ? ['curl', '-sS', '--max-time', '5', '-o', '/dev/null', '-w', '%{http_code}', `http://${at}${path}`]
      : ['sh', '-c', 'exec 3<>"/dev/tcp/$0/$1"', name, String(number)]
    const [program = '', ...args] = commandOn(networks.machine, httpGet ? check : ['bash', ...check.slice(1)])
    const { code, output } = await outputOf(program, args)
    const isGood = code === 0 && (!httpGet || /^[23]\d\d$/.test(output))
    return isGood ? undefined : `${at}${path}: ${output}`
  }
  /** The stand-ins first make their certificates. */
  const untilServed = async (host: string) => {
    const command = commandOn(networks.machine, ['curl', '-sS', '-o', '/dev/null', '--cacert', authority, `https://${host}/`])
    for (const deadline = Date.now() + 60_000; ; await delay(250)) {
      const { code, output } = await outputOf(command[0]!, command.slice(1))
      if (code === 0) return
      assert.ok(Date.now() < deadline, `${output}\n${said()}`)
    }
  }
  const cluster: Cluster = {
    hosts,
    outside: `${ranges.outside}.9`,
    pod: (name) => running.get(name)!,
    assertProbes: async (name) => {
      const { startupProbe, readinessProbe, livenessProbe } = workload(name).containers[0] as Record<string, Probe | undefined>
      const probes = [startupProbe, readinessProbe, livenessProbe].filter((one) => one !== undefined)
      assert.ok(probes.length > 0, name)
      for (const one of probes)
        for (const deadline = Date.now() + 60_000; ; await delay(250)) {
          const problem = await probe(name, one)
          if (problem === undefined) break
          assert.ok(Date.now() < deadline && !running.get(name)!.hasEnded(), `${problem}\n${said()}`)
        }
    },
    allowed: (name) => {
      const { securityContext, containers } = workload(name)
      const mounts = (containers[0].volumeMounts as Mount[]).filter(({ readOnly }) => !readOnly)
      const places = mounts.map(({ mountPath }) => mountPath).filter((path) => path !== '/dev/shm')
      return { user: securityContext.runAsUser as number, writable: places }
    },
    ask: async (url, options) => {
      const curl = ['curl', '-sS', '--max-time', '20', '--cacert', authority, '-w', '\n%{http_code}', ...options, url]
      const [program = '', ...args] = commandOn(networks.machine, curl)
      const { code, output } = await outputOf(program, args)
      assert.equal(code, 0, `${url}: ${output}\n${said()}`)
      const at = output.lastIndexOf('\n')
      return { status: Number(output.slice(at + 1)), text: output.slice(0, at) }
    },
    commandOn: (name, command) => commandOn(networks.host(name), command),
    stop: async () => {
      for (const container of running.values()) await container.stop('SIGKILL')
      await networks.close()
    },
  }
  try {
    const password = { POSTGRES_DB: 'atrium', POSTGRES_USER: 'atrium', POSTGRES_PASSWORD_FILE: '/run/secrets/database-password' }
    startStandIn('postgres', 'docker.io/library/postgres', [], password, [`${secrets}:/run/secrets:ro`])
    const redis = [
      'sh',
      '-c',
      'exec redis-server --save "" --protected-mode no --requirepass "$(cat /run/secrets/redis-password)"',
    ]
    startStandIn('redis', 'docker.io/library/redis', redis, {}, [`${secrets}:/run/secrets:ro`])
    const caddy = [`${caddyfile}:/etc/caddy/Caddyfile:ro`, `${caddyData}:/data`]
    startStandIn('outside', 'docker.io/library/caddy', [], {}, caddy)
    startStandIn('ingress', 'docker.io/library/caddy', [], {}, caddy)
    // The job starts again until it has done its work, as its restartPolicy says.
    for (let left = 30; ; left--) {
      await startPod('migrate')
      if ((await running.get('migrate')!.ended()) === 0) break
      assert.ok(left > 0, said())
      await delay(500)
    }
    for (const host of [hosts.api, issuer]) await untilServed(host)
    for (const name of workloads) if (name !== 'migrate') await startPod(name)
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}
