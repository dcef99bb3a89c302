import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test, type TestContext } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { createClient } from '../packages/client/src/create-client.ts'
import { adminToken, freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { runAtrium } from './support/run-atrium.ts'

const skipWithoutFullDisk = existsSync('/dev/full') ? false : 'no /dev/full here'

let database: TestDatabase
let atrium: AtriumProcess
before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

/** What the command printed and its exit code. */
async function run(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null | undefined; output: string }> {
  const command = runAtrium(args, { ATRIUM_PUBLIC_URL: atrium.origin, ATRIUM_ADMIN_TOKEN: adminToken, ...env })
  const code = await command.ended(30_000)
  return { code, output: command.output() }
}

test('lists of tenants and agents: a line each, page after page, and no control character of a name', async () => {
  const empty = await run(['agents', 'list'])
  assert.deepEqual(empty, { code: 0, output: 'No tenant has registered an agent yet.\n' })
  const name = 'Red \u001b[31m\u009b\u202e\u{e0041} wall'
  const { secret, id } = await makeTenant(atrium.origin, name)
  const operator = createClient({ baseUrl: atrium.origin, adminToken })
  await Promise.all(Array.from({ length: 103 }, (_, i) => operator.createTenant({ body: { name: `Tenant ${i}` } })))
  const client = createClient({ baseUrl: atrium.origin, key: secret })
  const body = { name: 'Echo', description: 'Echoes.', instructions: '', price_credits: 1, max_minutes: 5 }
  const { data: agent } = await client.registerAgent({ body })

  const { code, output } = await run(['tenants', 'list'])
  assert.equal(code, 0)
  const lines = output.trim().split('\n')
  assert.equal(new Set(lines).size, 104)
  for (const line of lines) assert.match(line, /^ten_\w+ {2}active {5}app,issuer {2}\d{4}-\d\d-\d\d {2}\P{Cc}+$/u)
  assert.match(lines[0]!, /Red {2}\[31m {2}wall$/, 'oldest first')
  const json = (await run(['tenants', 'list', '--json'])).output.trim().split('\n')
  assert.equal(JSON.parse(json[0]!).name, name)
  assert.doesNotMatch(json[0]!, /[\p{Cc}\p{Cf}]/u)
  for (const command of ['suspend', 'activate']) {
    const { output } = await run(['tenants', command, id])
    assert.equal(JSON.parse(output).name, name)
    assert.doesNotMatch(output.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
  }

  const agents = await run(['agents', 'list'])
  assert.match(agents.output, new RegExp(`^${agent.id} {2}draft {6}ten_\\w+ {2}Echo\\n$`))
})

test('an invite is listed without its code, and signs up nobody after it was revoked', async () => {
  assert.deepEqual(await run(['invites', 'list']), {
    code: 0,
    output: 'There is no invite yet. Create one: atrium invites create\n',
  })
  const invite = JSON.parse((await run(['invites', 'create', '--uses', '5'])).output)
  const listed = (await run(['invites', 'list'])).output
  assert.match(listed, new RegExp(`^${invite.id} {2}active {3}5 of 5 left {11}no end {20}inv_…\\w{4}\\n$`))
  assert.ok(!listed.includes(invite.invite_code))
  assert.deepEqual(await run(['invites', 'revoke', invite.id]), { code: 0, output: '' })
  assert.match((await run(['invites', 'list', '--json'])).output, /"state":"revoked"/)
  const signUp = await fetch(`${atrium.origin}/v1/tenants/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Late', email: 'late@harbour.example', invite_code: invite.invite_code }),
  })
  assert.ok(signUp.status >= 400 && signUp.status < 500, `${signUp.status}`)
  const unknown = await run(['invites', 'revoke', 'ivt_4fRzK0vXcB1mQwErTy7uPa'])
  assert.match(unknown.output, /\(not_found, request req_\w+\)\n$/)
  assert.equal(unknown.code, 1)
})

interface Passed {
  status: number
  /** The body of the server's answer. */
  answer: string
  /** How many requests came before this one. */
  before: number
}

/** A proxy in front of the server, which passes each request on, and answers as the test says. */
async function startProxy(t: TestContext, respond: (res: ServerResponse, passed: Passed) => void): Promise<string> {
  let before = 0
  const proxy = createServer(async (req, res) => {
    const body = await text(req)
    const headers = Object.fromEntries(
      ['content-type', 'idempotency-key', 'x-admin-token'].flatMap((name) => {
        const value = req.headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    )
    const { method = 'GET' } = req
    const passed = await fetch(`${atrium.origin}${req.url}`, { method, headers, ...(body ? { body } : {}) })
    respond(res, { status: passed.status, answer: await passed.text(), before: before++ })
  }).listen(0, '127.0.0.1')
  t.after(() => proxy.close())
  await once(proxy, 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** Sends the headers, and ends the connection in the middle of the body. */
function cut(res: ServerResponse, answer: string): void {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
  res.write(answer.slice(0, 20), () => res.destroy())
}

test('keys that are shown once are printed, and there is one tenant, if a proxy loses the first answer', async (t) => {
  const losses: Record<string, (res: ServerResponse, answer: string) => void> = {
    'cuts it': cut,
    'gives up': (res) => res.writeHead(504).end('<h1>Gateway timeout</h1>'),
  }
  for (const [how, lose] of Object.entries(losses)) {
    const proxy = await startProxy(t, (res, { status, answer, before }) =>
      before === 0 ? lose(res, answer) : res.writeHead(status, { 'content-type': 'application/json' }).end(answer),
    )
    const name = `A proxy ${how}`
    const { code, output } = await run(['tenants', 'create', '--name', name], { ATRIUM_PUBLIC_URL: proxy })
    assert.equal(code, 0, output)
    const made = JSON.parse(output) as { tenant: { id: string }; secret_key: string }
    const client = createClient({ baseUrl: atrium.origin, key: made.secret_key })
    assert.equal((await client.getTenant()).data.id, made.tenant.id)
    const listed = (await run(['tenants', 'list'])).output
    assert.equal(listed.split('\n').filter((line) => line.endsWith(`  ${name}`)).length, 1)
  }
})

test('what a command revokes or cancels is so, and the command succeeds, if a proxy loses the first answer', async (t) => {
  const { secret } = await makeTenant(atrium.origin, 'Leaving')
  const { id: tenant } = (await createClient({ baseUrl: atrium.origin, key: secret }).getTenant()).data
  const invite = JSON.parse((await run(['invites', 'create'])).output) as { id: string }
  const credential = JSON.parse((await run(['admin-credentials', 'add', 'Pager'])).output) as { id: string }
  assert.equal((await run(['tenants', 'delete', tenant])).code, 0)
  for (const args of [
    ['invites', 'revoke', invite.id],
    ['admin-credentials', 'revoke', credential.id],
    ['tenants', 'delete', tenant, '--cancel'],
  ]) {
    const statuses: number[] = []
    const proxy = await startProxy(t, (res, { status, answer, before }) => {
      statuses.push(status)
      if (before === 0) res.destroy()
      else if (status === 204) res.writeHead(204).end()
      else res.writeHead(status, { 'content-type': 'application/json' }).end(answer)
    })
    const { code, output } = await run(args, { ATRIUM_PUBLIC_URL: proxy })
    assert.equal(code, 0, `${args.join(' ')}: ${output}`)
    assert.deepEqual(statuses.slice(0, 2), [204, 204], 'the repeat changes nothing, and is not an error')
  }
})

describe('each failure is one line that says what to do', () => {
  /** Nothing listens there: what is reported is found before the database is needed. */
  const noDatabase = { DATABASE_URL: 'postgres://127.0.0.1:9/none', ATRIUM_DATA_DIR: '/tmp/no such folder' }
  const failures: [string, string[], Record<string, string>, RegExp][] = [
    [
      'a wrong operator token',
      ['audit'],
      { ATRIUM_ADMIN_TOKEN: 'another-installation-of-mine' },
      /^atrium: http\S+ does not accept the operator's token of ATRIUM_ADMIN_TOKEN: X-Admin-Token is not the token of the operator\. .*\n$/,
    ],
    [
      'two operator tokens, as in a file to which the new one was appended',
      ['audit'],
      { ATRIUM_ADMIN_TOKEN: 'the-old-one-of-mine\nthe-new-one-of-mine' },
      /^atrium: the operator's token of ATRIUM_ADMIN_TOKEN has a line end, or another character that no header has\n$/,
    ],
    [
      'no operator token',
      ['audit'],
      { ATRIUM_ADMIN_TOKEN: '', ATRIUM_DATA_DIR: '/tmp/no such folder' },
      /^atrium: no operator token: \/tmp\/no such folder\/admin-token was not found; set ATRIUM_ADMIN_TOKEN, or run this on the server with its ATRIUM_DATA_DIR\n$/,
    ],
    [
      'a server that cannot be reached',
      ['tenants', 'list'],
      { ATRIUM_PUBLIC_URL: 'http://127.0.0.1:9' },
      /^atrium: no server answers at http:\/\/127\.0\.0\.1:9.*; is it running\? \(set ATRIUM_PUBLIC_URL or PORT to its address\)\n$/,
    ],
    [
      'a tenant that is not there',
      ['tenants', 'suspend', 'ten_4fRzK0vXcB1mQwErTy7uPa'],
      {},
      /^atrium: .*\(not_found, request req_\w+\)\n$/,
    ],
    [
      'an address that is none',
      ['verify', 'notaurl'],
      {},
      /^cannot begin: the address must start with https:\/\/.* room link .*\n$/,
    ],
    [
      'a value that an option does not take',
      ['tenants', 'limits', 'ten_1', '--rate-percent', '0'],
      {},
      /^error: option '--rate-percent <percent>' argument '0' is invalid\. .*at least 1\nAdd --help to see .*\n$/,
    ],
    ...['40', '2026-02-30T00:00:00Z', '2026-12-31T18:00', '2026-12-31T24:00:00Z'].map((time): (typeof failures)[0] => [
      `a time that is not of RFC 3339, ${time}`,
      ['admin-credentials', 'add', 'ci', '--expires', time],
      {},
      /^error: option '--expires <time>' argument '.*' is invalid\. It must be an RFC 3339 time .* 2026-12-31T18:00:00Z\nAdd --help to see .*\n$/,
    ]),
    [
      'a wrong switch of the access log',
      ['start'],
      { ATRIUM_ACCESS_LOG: 'no' },
      /^atrium: ATRIUM_ACCESS_LOG must be on or off, not "no"\n$/,
    ],
    ...(['start', 'space'] as const).map((command): (typeof failures)[0] => [
      `a wrong setting of Space, to ${command}`,
      [command],
      { ...noDatabase, ATRIUM_SPACE_UNUSED_DAYS: 'never' },
      /^atrium: ATRIUM_SPACE_UNUSED_DAYS must be a whole number from 0\n$/,
    ]),
    ...(['start', 'api'] as const).map((command): (typeof failures)[0] => [
      `one port for metrics and requests, to ${command}`,
      [command],
      { ...noDatabase, PORT: '39871', ATRIUM_METRICS_PORT: '39871' },
      /^atrium: ATRIUM_METRICS_PORT must be another port than PORT, not 39871 too\n$/,
    ]),
    [
      'the state of migrations where there is no database',
      ['migrate', '--status'],
      { ATRIUM_DATA_DIR: '/tmp/no such folder' },
      /^atrium: there is no database in \/tmp\/no such folder: set DATABASE_URL, or ATRIUM_DATA_DIR to the folder of one\n$/,
    ],
    [
      'a cluster that is not named',
      ['distribute'],
      { ATRIUM_DATA_DIR: '/tmp/no such folder' },
      /^atrium: DATABASE_URL must be set to the coordinator of a Citus cluster: the embedded database has one node\n$/,
    ],
  ]
  for (const [name, args, env, line] of failures) {
    test(name, async () => {
      const { code, output } = await run(args, env)
      assert.match(output, line)
      assert.ok(code === 1 || code === 2)
    })
  }

  // The port ends these starts before they do anything.
  for (const command of ['start', 'api'])
    test(`a console on plain http in a network gets a warning, from ${command}`, async () => {
      const started = async (env: Record<string, string>) =>
        (await run([command], { ...noDatabase, PORT: '39871', ATRIUM_METRICS_PORT: '39871', ...env })).output
      assert.match(
        await started({ ATRIUM_PUBLIC_URL: 'http://10.0.0.5:8787' }),
        /^Warning: the console is at http:\/\/10\.0\.0\.5:8787, without TLS: .* Set ATRIUM_PUBLIC_URL, .*\natrium: .*\n$/,
      )
      for (const env of [
        { ATRIUM_PUBLIC_URL: 'https://api.example' },
        { ATRIUM_PUBLIC_URL: 'http://localhost:8787' },
        { ATRIUM_PUBLIC_URL: 'http://10.0.0.5:8787', ATRIUM_CONSOLE_URL: 'https://console.example' },
      ])
        assert.match(await started(env), /^atrium: ATRIUM_METRICS_PORT must be another port than PORT.*\n$/, JSON.stringify(env))
    })

  test('a server that is not Atrium', async (t) => {
    const other = createServer((_req, res) => res.writeHead(404).end('<h1>Not here</h1>')).listen(0, '127.0.0.1')
    t.after(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const { code, output } = await run(['audit'], { ATRIUM_PUBLIC_URL: url })
    assert.equal(
      output,
      `atrium: ${url} answered 404 in a form that is not Atrium's; check that ATRIUM_PUBLIC_URL or PORT names the right server\n`,
    )
    assert.equal(code, 1)
  })

  test('a port of Space that cannot be used, to space', async () => {
    const { port } = new URL(atrium.origin)
    assert.deepEqual(await run(['space'], { ...noDatabase, SPACE_PORT: port }), {
      code: 1,
      output: `atrium: port ${port} is in use; stop what uses it or set SPACE_PORT to another one\n`,
    })
    assert.deepEqual(await run(['space'], { ...noDatabase, SPACE_PORT: String(await freePort()), HOST: '192.0.2.1' }), {
      code: 1,
      output: 'atrium: HOST 192.0.2.1 is not an address of this machine\n',
    })
  })

  test('a proxy whose answers never arrive whole', async (t) => {
    const proxy = await startProxy(t, (res, { answer }) => cut(res, answer))
    const { code, output } = await run(['tenants', 'list'], { ATRIUM_PUBLIC_URL: proxy })
    assert.match(output, /^atrium: the answer of http:\S+ was cut \(UND_ERR_SOCKET\)\n$/)
    assert.equal(code, 1)
    const created = await run(['tenants', 'create', '--name', 'Unheard'], { ATRIUM_PUBLIC_URL: proxy })
    assert.match(created.output, /^atrium: the answer of .* was cut .*; the call may have taken effect: check before .*\n$/)
    const away = await startProxy(t, (res) => res.writeHead(502).end('<h1>Bad gateway</h1>'))
    const { output: unreached } = await run(['tenants', 'list'], { ATRIUM_PUBLIC_URL: away })
    assert.match(unreached, /^atrium: a proxy at http:\S+ answered 502 instead of the server; is it running\?\n$/)
  })

  const isRoot = process.getuid?.() === 0
  test('a data folder of another user', { skip: isRoot ? false : 'needs root, to give a folder away' }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'atrium-others-'))
    t.after(() => rmSync(folder, { recursive: true }))
    chownSync(folder, 65_533, 65_533)
    chmodSync(folder, 0o700)
    const { dataFolderError } = await import('../packages/server/src/config/secrets.ts')
    const denied = Object.assign(new Error('denied'), { code: 'EACCES' })
    const { message } = await dataFolderError(join(folder, 'blobs'), denied)
    assert.equal(
      message,
      `ATRIUM_DATA_DIR: ${folder}/blobs cannot be used (EACCES): ${folder} belongs to another user (uid 65533, and this one is 0); ` +
        'start as that user, or set ATRIUM_DATA_DIR to a folder of your own',
    )
  })
})

test('an output that cannot be written is an error of one line', { skip: skipWithoutFullDisk }, async () => {
  const { data: tenant } = await createClient({ baseUrl: atrium.origin, adminToken }).createTenant({ body: { name: 'Full' } })
  const full = openSync('/dev/full', 'w')
  for (const args of [
    ['tenants', 'list'],
    ['tenants', 'export', tenant.tenant.id],
  ]) {
    const command = runAtrium(args, { ATRIUM_PUBLIC_URL: atrium.origin, ATRIUM_ADMIN_TOKEN: adminToken }, full)
    assert.equal(await command.ended(30_000), 1)
    assert.match(command.output(), /^atrium: the output cannot be written: ENOSPC[^\n]+\n$/)
  }
  closeSync(full)
})

test('there is a version', async () => {
  assert.match((await run(['--version'])).output, /^\d+\.\d+\.\d+\n$/)
})

test('every command, also of a command, has help with examples and errors', { timeout: 60_000 }, async () => {
  const { output } = await run(['--help'])
  const commands = commandsIn(output)
  assert.ok(commands.length > 8, commands.join())
  const deeper = await Promise.all(commands.map((name) => assertHelp([name])))
  assert.ok(deeper.flat().length > 8, deeper.join())
})

/** Checks the help of the command and of its subcommands. Returns their names. */
async function assertHelp(path: string[]): Promise<string[]> {
  const name = path.join(' ')
  const { code, output } = await run([...path, '--help'])
  assert.equal(code, 0, name)
  assert.ok(output.startsWith(`Usage: atrium ${name}`), output)
  const [, examples] = /^Examples:\n((?: {2}.*\n)+)/m.exec(output) ?? []
  assert.ok(examples?.includes(`atrium ${name}`), `${name}: add examples with helpText() (packages/cli/src/help-text.ts)`)
  assert.match(output, /^Errors:\n {2}\S/m, `${name}: say how it fails with helpText()`)
  const below = commandsIn(output)
  for (const one of below) await assertHelp([...path, one])
  return below
}

function commandsIn(help: string): string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? []
  return [...list.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name]) => name!).filter((name) => name !== 'help')
}

test('a first start in production says how to go on', { timeout: 60_000 }, async (t) => {
  const fresh = await createTestDatabase()
  t.after(() => fresh.drop())
  const first = await startAtrium({ databaseUrl: fresh.url, env: { NODE_ENV: 'production' } })
  t.after(() => first.end('SIGKILL'))
  assert.match(
    first.output(),
    /There is no tenant yet\. Create one; its keys are printed once:\n {2}npm run -s atrium -- tenants create --name "My app"/,
  )
})

test('each answer of an operation is a line of the log, without address, key or room; off by a variable', async (t) => {
  const { publishable } = await makeTenant(atrium.origin)
  const get = (origin: string, path: string) => fetch(origin + path, { headers: { authorization: `Bearer ${publishable}` } })
  const answer = await get(atrium.origin, '/v1/collections/col_4fRzK0vXcB1mQwErTy7uPa?secret=hush')
  await get(atrium.origin, '/v1/nothing/hush')
  const room = JSON.stringify({ op: 'sealed', room: 'hush-room' })
  await fetch(`${atrium.origin}/v1/space`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: room })
  const id = answer.headers.get('x-request-id')!
  // Whole lines: the last one may still be coming.
  const lines = () =>
    atrium
      .output()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
  while (!lines().some((line) => line.includes(id))) await new Promise((resolve) => setTimeout(resolve, 20))
  const line = JSON.parse(lines().find((text) => text.includes(id))!)
  assert.equal(typeof line.ms, 'number')
  const { method, operation, status, request_id: requestId, msg } = line
  assert.deepEqual(
    { method, operation, status, requestId, msg },
    { method: 'GET', operation: 'getCollection', status: 404, requestId: id, msg: 'answered' },
  )
  assert.doesNotMatch(atrium.output(), /hush|wpk_|col_4fRz/)

  const quiet = await startAtrium({ databaseUrl: database.url, env: { ATRIUM_ACCESS_LOG: 'off' }, port: await freePort() })
  t.after(() => quiet.end('SIGKILL'))
  await get(quiet.origin, '/v1/catalog')
  await get(quiet.origin, '/v1/nothing')
  assert.doesNotMatch(quiet.output(), /answered/)
})
