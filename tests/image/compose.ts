import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken } from '../support/atrium-process.ts'
import { runAcceptance } from '../support/run-acceptance.ts'
import { skipWithout } from '../support/skip-without.ts'
import { makeAuthority } from './authority.ts'
import { root, run } from './build.ts'
import { type Composition, composeUp } from './compose-engine.ts'
import { type Image, outputOf } from './container.ts'
import { commandOn } from './network.ts'

const hardeningPage = readFileSync(join(root, 'docs/operating/hardening.md'), 'utf8')
const rotatePage = readFileSync(join(root, 'docs/operating/rotate.md'), 'utf8')
const backupPage = readFileSync(join(root, 'docs/operating/backup.md'), 'utf8')

/** Caddy signs certificates for names that end so itself. */
const domain = 'api.atrium.local'
const spacesDomain = 'spaces.atrium.local'

/** deploy/compose.yaml as docs/operating/install.md starts it. */
export function testCompose(image: () => Image, folder: () => string): void {
  const skip = skipWithout('caddy', 'curl', 'ip', 'openssl', 'pg_isready', 'redis-server')
  describe('compose.yaml, started', { skip }, () => {
    let composition: Composition
    let authority: string
    let place: string
    before(async () => {
      place = await mkdtemp(join(folder(), 'compose-'))
      for (const name of ['compose.yaml', 'Caddyfile', 'make-secrets.sh', 'make-roles.sh', 'admit-space.sh'])
        await cp(join(root, 'deploy', name), join(place, name))
      await mkdir(join(place, 'secrets'), { mode: 0o700 })
      // Those that are there stay. The acceptance tests know this one.
      await writeFile(join(place, 'secrets/admin-token'), adminToken, { mode: 0o444 })
      await run('sh', [join(place, 'make-secrets.sh')])
      // Caddy takes the authority that it finds in its volume.
      const made = join(place, 'volumes/caddy/caddy/pki/authorities/local')
      authority = await makeAuthority(made)
      const settings = { ATRIUM_DOMAIN: domain, ATRIUM_SPACES_DOMAIN: spacesDomain }
      const trust = { NODE_EXTRA_CA_CERTS: '/run/authority.crt' }
      composition = await composeUp(place, image(), settings, { env: trust, volumes: [`${authority}:/run/authority.crt:ro`] })
    })
    after(() => composition?.stop())

    /** Asks as someone outside of the machine does: by TLS, through Caddy. */
    const ask = async (url: string, ...options: string[]) => {
      const command = ['curl', '-sS', '--max-time', '20', '--cacert', authority, '-w', '\n%{http_code}', ...options, url]
      const [program = '', ...args] = commandOn(composition.networks.machine, command)
      const { code, output } = await outputOf(program, args)
      assert.equal(code, 0, `${url}: ${output}\n${composition.said()}`)
      const at = output.lastIndexOf('\n')
      return { status: Number(output.slice(at + 1)), text: output.slice(0, at) }
    }
    const api = `https://${domain}`
    /** Caddy first makes its certificates, and has no health check. */
    const untilServed = async () => {
      const command = commandOn(composition.networks.machine, ['curl', '-sS', '--cacert', authority, `${api}/healthz`])
      for (const deadline = Date.now() + 60_000; ; await delay(250)) {
        const { code, output } = await outputOf(command[0]!, command.slice(1))
        if (code === 0) return
        assert.ok(Date.now() < deadline, `${output}\n${composition.said()}`)
      }
    }
    const post = (path: string, body: object, ...options: string[]) =>
      ask(api + path, '-H', 'content-type: application/json', '-d', JSON.stringify(body), ...options)

    test('starts each service after what it depends on, and the migration has ended before a role starts', () => {
      const { started } = composition
      for (const [name, { depends_on = {} }] of Object.entries(composition.file.services))
        for (const other of Object.keys(depends_on))
          assert.ok(started.indexOf(other) < started.indexOf(name), `${other} before ${name}: ${started.join()}`)
      assert.ok(composition.container('migrate').hasEnded())
      assert.match(composition.container('migrate').output(), /The database is up to date/)
    })

    test('passes the acceptance tests through Caddy by TLS', async () => {
      for (const name of ['api', 'space', 'worker']) await composition.untilHealthy(name)
      await untilServed()
      await runAcceptance(api, composition.said, {
        within: (command) => commandOn(composition.networks.machine, command),
        // The demo's pictures are not served in production, and a browser would want Caddy's authority.
        only: ['people add, the owner lists', 'a deleted collection is gone', 'a preflight allows'],
        env: { NODE_EXTRA_CA_CERTS: authority, CHROMIUM_PATH: '/nonexistent' },
      })
    })

    test('carries a room from the API to the Space service, at addresses that only Caddy serves', async () => {
      const room = { room: `room-${randomUUID()}`, mk: Buffer.alloc(32, 5).toString('base64url') }
      const said = await post('/v1/space', { op: 'turn', ...room, message: { text: 'Ahoy', client_id: randomUUID() } })
      assert.equal(said.status, 200, said.text)
      assert.match((await post('/v1/space', { op: 'poll', ...room, sinceCount: 0 })).text, /Ahoy/)
      assert.equal((await ask(`https://${spacesDomain}/cert.json`)).status, 200)
      assert.equal((await ask(`${api}/metrics`)).status, 404)
      const plain = await ask(`http://${domain}/v1/collections`, '-o', '/dev/null')
      assert.equal(plain.status, 308)
    })

    test('believes the address that Caddy names, and not one that the caller names', async () => {
      const created = await post('/v1/tenants', { name: 'Compose' }, '-H', `x-admin-token: ${adminToken}`)
      assert.equal(created.status, 201, created.text)
      const { data } = JSON.parse(created.text) as { data: { secret_key: string } }
      const key = ['-H', `authorization: Bearer ${data.secret_key}`]
      const made = await post('/v1/tenant/keys', { kind: 'secret' }, ...key, '-H', 'x-forwarded-for: 203.0.113.77')
      assert.equal(made.status, 201, made.text)
      const log = await ask(`${api}/v1/tenant/audit-log`, ...key)
      assert.equal(log.status, 200, log.text)
      assert.ok(!log.text.includes('203.0.113.77'), log.text)
      assert.match(log.text, /172\.30\.87\.1"/)
    })

    test('connects as no superuser, and Space with a role that reads nothing of tenants', async () => {
      const query = async (url: string, sql: string) => {
        const address = (await readFile(join(place, 'secrets', url), 'utf8')).trim()
        return composition.container('postgres').exec('psql', address, '-Atc', sql)
      }
      const [, superuser = ''] = /psql "\$DATABASE_URL" -Atc '([^']+)'/.exec(hardeningPage)!
      for (const url of ['database-url', 'space-database-url'])
        assert.deepEqual(await query(url, superuser), { code: 0, output: 'f\n' }, url)
      assert.match((await query('space-database-url', 'select from tenants')).output, /permission denied/)
    })

    test('keeps what it has when PostgreSQL and the API are killed and start again', async () => {
      const created = await post('/v1/tenants', { name: 'Kept' }, '-H', `x-admin-token: ${adminToken}`)
      const { data } = JSON.parse(created.text) as { data: { secret_key: string } }
      for (const name of ['postgres', 'api']) {
        await composition.stop(name)
        await composition.start(name)
        await composition.untilHealthy(name)
      }
      const kept = await ask(`${api}/v1/tenant`, '-H', `authorization: Bearer ${data.secret_key}`)
      assert.match(kept.text, /"Kept"/)
    })

    test('migrates and lets Space start once the password of PostgreSQL was rotated as its page says', async (t) => {
      const read = async (name: string) => (await readFile(join(place, 'secrets', name), 'utf8')).trim()
      const [address, old] = [await read('database-url'), await read('database-password')]
      const superuser = `postgresql://postgres:${await read('postgres-password')}@127.0.0.1/atrium`
      const query = async (sql: string) => {
        const { code, output } = await composition
          .container('postgres')
          .exec('psql', superuser, '-v', 'ON_ERROR_STOP=1', '-c', sql)
        assert.equal(code, 0, output)
      }
      t.after(async () => {
        await query(`alter role atrium password '${old}'`)
        await writeFile(join(place, 'secrets/database-url'), `${address}\n`)
      })
      const [, section = ''] = rotatePage.split('## The password of PostgreSQL')
      const [, make = ''] = /<<'SQL'\n([^]*?)\nSQL$/m.exec(section)!
      const [, lock = ''] = /-c "([^"]+)"/.exec(section)!
      await query(make)
      await query("alter role atrium_b password 'next'")
      await writeFile(join(place, 'secrets/database-url'), `${address.replace(`atrium:${old}@`, 'atrium_b:n%65xt@')}\n`)
      await query(lock)
      for (const step of ['migrate', 'admit-space']) {
        await composition.start(step)
        assert.equal(await composition.container(step).ended(), 0, composition.said())
      }
    })

    test('restores an archive into new volumes, with the words of the page, before anything else starts', async () => {
      const created = await post('/v1/tenants', { name: 'Archived' }, '-H', `x-admin-token: ${adminToken}`)
      assert.equal(created.status, 201, created.text)
      const [, words = ''] = /^podman compose -f deploy\/compose\.yaml run --rm --no-deps -v (.*)$/m.exec(backupPage)!
      const [volume = '', service = '', ...command] = words.split(' ')
      const backups = join(place, 'backups')
      await mkdir(backups)
      const made = await composition.container('api').exec('atrium', 'backup', '/data/archive.tar')
      assert.equal(made.code, 0, made.output)
      const archive = join(backups, basename(command[1]!))
      await cp(join(place, 'volumes/data/archive.tar'), archive)
      await chmod(archive, 0o444)

      for (const name of ['api', 'worker', 'space', 'postgres']) await composition.stop(name)
      for (const name of ['postgres', 'data']) await rm(join(place, 'volumes', name), { recursive: true })
      const [, only = ''] = /^podman compose -f deploy\/compose\.yaml up -d --wait (.*)$/m.exec(backupPage)!
      assert.equal(only, 'postgres')
      await composition.start(only)
      await composition.untilHealthy(only)
      const restored = await composition.runOnce(service, command, [volume.replace('/backups', backups)])
      assert.equal(restored.code, 0, restored.output)
      assert.match(restored.output, /Restored\. All hashes and counts are those of the manifest/)
      await composition.start('migrate')
      assert.equal(await composition.container('migrate').ended(), 0, composition.said())
      await composition.start('admit-space')
      assert.equal(await composition.container('admit-space').ended(), 0, composition.said())
      for (const name of ['space', 'api']) await composition.start(name)
      for (const name of ['space', 'api']) await composition.untilHealthy(name)
      const listed = await composition.container('api').exec('atrium', 'tenants', 'list')
      assert.match(listed.output, /Archived/)
    })
  })
}
