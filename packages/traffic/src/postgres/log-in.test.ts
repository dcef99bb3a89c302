import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startThrowawayPostgres } from '../../../server/testing/throwaway-postgres.ts'
import { startLogin } from './log-in.ts'
import { message, open, startServer } from './testing/fake-server.ts'

let folder: string
let postgres: Awaited<ReturnType<typeof startThrowawayPostgres>>
const password = 'Pass, "wörd"=%20\u00A0ﬁ'

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-login-'))
  await chmod(folder, 0o755)
  const methods = ['scram scram-sha-256', 'hashed md5', 'plain password', 'all trust'].map((line) => `local all ${line}\n`)
  await writeFile(join(folder, 'hba.conf'), methods.join(''), { mode: 0o644 })
  postgres = await startThrowawayPostgres({ hba_file: join(folder, 'hba.conf') })
  const admin = await open({ url: postgres.connectionString })
  await admin.query(`create role scram login password '${password}'; create role plain login password '${password}'`)
  await admin.query(`set password_encryption = 'md5'; create role hashed login password '${password}'`)
})

after(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true })
})

function urlOf(user: string, secret?: string): string {
  const url = new URL(postgres.connectionString)
  url.username = user
  if (secret !== undefined) url.password = encodeURIComponent(secret)
  return url.href
}

test('PostgreSQL lets it in with SCRAM, with MD5 and with the password in clear text', async () => {
  for (const user of ['scram', 'hashed', 'plain']) {
    const connection = await open({ url: urlOf(user, password) })
    assert.deepEqual((await connection.query('select current_user as name')).rows, [{ name: user }])
    await assert.rejects(open({ url: urlOf(user, 'another') }), { code: '28P01' })
    await assert.rejects(open({ url: urlOf(user) }), /asks for a password, and its URL has none/)
  }
})

function begin() {
  const login = startLogin({ user: 'tester', password: 'pencil' })
  const first = login({ name: 'authenticationSASL', mechanisms: ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'] })!.toString()
  return { login, nonce: first.slice(first.lastIndexOf('r=') + 2) }
}

test('a server that does not prove that it knows the password is refused', () => {
  const ok = { name: 'authenticationOk' } as const
  const goOn = (data: string) => ({ name: 'authenticationSASLContinue', data }) as const
  const salt = Buffer.from('salt').toString('base64')
  const finals: [string, RegExp][] = [
    [`v=${Buffer.alloc(32).toString('base64')}`, /signature of the server is wrong/],
    ['v=', /signature of the server is wrong/],
    ['v=AAAA', /signature of the server is wrong/],
    ['', /signature of the server is wrong/],
    ['e=other-error', /refuses: other-error/],
  ]
  for (const [data, reason] of finals) {
    const { login, nonce } = begin()
    assert.throws(() => login(ok), /without its proof/)
    login(goOn(`r=${nonce}server,s=${salt},i=4096`))
    assert.throws(() => login({ name: 'authenticationSASLFinal', data }), reason)
    assert.throws(() => login(ok), /without its proof/)
  }
})

test('a server-first-message that is not one is refused', () => {
  const salt = Buffer.from('salt').toString('base64')
  const bad = (nonce: string): [string, RegExp][] => [
    ['', /nonce/],
    [`r=server${nonce},s=${salt},i=4096`, /nonce/],
    [`r=${nonce},s=${salt},i=4096`, /nonce/],
    [`r=${nonce}x,i=4096`, /salt/],
    [`r=${nonce}x,s=*,i=4096`, /salt/],
    [`r=${nonce}x,s=${salt}`, /iterations/],
    ...['0', '-1', '1e3', '100001', '99999999999'].map((i): [string, RegExp] => [`r=${nonce}x,s=${salt},i=${i}`, /iterations/]),
  ]
  for (let i = 0; i < bad('').length; i++) {
    const { login, nonce } = begin()
    const [data, reason] = bad(nonce)[i]!
    assert.throws(() => login({ name: 'authenticationSASLContinue', data }), reason)
  }
  const idle = startLogin({ user: 'tester', password: 'pencil' })
  assert.throws(() => idle({ name: 'authenticationSASLContinue', data: 'r=x' }), /not begun/)
  assert.throws(() => idle({ name: 'authenticationSASL', mechanisms: ['SCRAM-SHA-256-PLUS'] }), /no SCRAM-SHA-256/)
})

test('a wrong signature of the server closes the connection before any query', async () => {
  let sent = ''
  const url = await startServer((socket) => {
    socket.once('data', () => {
      socket.write(message('R', 10, 'SCRAM-SHA-256\0\0'))
      socket.once('data', (first) => {
        const nonce = first.toString().slice(first.lastIndexOf('r=') + 2)
        socket.write(message('R', 11, `r=${nonce}server,s=c2FsdA==,i=4096`))
        socket.once('data', () => {
          socket.write(
            Buffer.concat([message('R', 12, `v=${Buffer.alloc(32).toString('base64')}`), message('R', 0), message('Z', 'I')]),
          )
          socket.on('data', (bytes) => (sent += bytes.toString()))
        })
      })
    })
  })
  await assert.rejects(open({ url }), /signature of the server is wrong/)
  assert.equal(sent, '')
})
