import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort } from './support/atrium-process.ts'
import { runAtrium } from './support/run-atrium.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

const config = new URL('../deploy/egress-proxy/squid.conf', import.meta.url)

test(
  'the egress proxy connects to the hosts in its list over port 443, and to nothing else',
  { skip: skipWithout('squid') },
  async (t) => {
    const host = await listen(
      t,
      createServer((socket) => socket.end('hello')),
    )
    const other = await listen(
      t,
      createServer((socket) => socket.end('hello')),
    )
    const proxy = await startSquid(t, { hosts: 'localhost\n', httpsPort: host })
    assert.match(await ask(proxy, `CONNECT localhost:${host} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 200 [\s\S]*hello$/)
    for (const [what, request] of Object.entries({
      'another host': `CONNECT 127.0.0.1:${host} HTTP/1.1\r\n\r\n`,
      'a host whose name ends alike': `CONNECT not-localhost:${host} HTTP/1.1\r\n\r\n`,
      'another port': `CONNECT localhost:${other} HTTP/1.1\r\n\r\n`,
      'plain http': `GET http://localhost:${host}/ HTTP/1.1\r\nHost: localhost:${host}\r\nConnection: close\r\n\r\n`,
    }))
      assert.match(await ask(proxy, request), /^HTTP\/1\.1 403 /, what)
  },
)

test('the Space service asks the identity provider through the proxy that HTTPS_PROXY names', async (t) => {
  const asked: string[] = []
  const proxy = await listen(
    t,
    createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (chunk) => {
        asked.push(String(chunk).split('\r\n')[0] ?? '')
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      })
    }),
  )
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-space-proxy-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const space = runAtrium(['space'], {
    DATABASE_URL: database.url,
    ATRIUM_DATA_DIR: dataDir,
    OIDC_ISSUER: 'https://identity.example',
    OIDC_CLIENT_ID: 'rooms',
    HTTPS_PROXY: `http://127.0.0.1:${proxy}`,
    NODE_USE_ENV_PROXY: '1',
  })
  t.after(async () => {
    space.kill()
    await space.ended(10_000)
  })
  for (const deadline = Date.now() + 60_000; asked.length === 0; await delay(50)) assert.ok(Date.now() < deadline, space.output())
  assert.equal(asked[0], 'CONNECT identity.example:443 HTTP/1.1')
})

/** Squid with the configuration of the image, on a free port, and with another port in place of 443. */
async function startSquid(t: TestContext, { hosts, httpsPort }: { hosts: string; httpsPort: number }): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-squid-'))
  // Under root, squid reads its files as another user.
  await chmod(folder, 0o755)
  const port = await freePort()
  const text = (await readFile(config, 'utf8'))
    .replaceAll('/etc/squid/egress/hosts', join(folder, 'hosts'))
    .replaceAll('http_port 3128', `http_port 127.0.0.1:${port}`)
    .replaceAll('port 443', `port ${httpsPort}`)
  await writeFile(join(folder, 'hosts'), hosts)
  await writeFile(join(folder, 'squid.conf'), text)
  const child = spawn(findProgram('squid')!, ['--foreground', '-f', join(folder, 'squid.conf')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  t.after(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null) child.kill('SIGTERM')
    if (child.exitCode === null) await ended
    await rm(folder, { recursive: true, force: true })
  })
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined)).on('error', () => resolve(false))
    })
  for (const deadline = Date.now() + 20_000; !(await isUp()); await delay(50))
    assert.ok(Date.now() < deadline && child.exitCode === null, said)
  return port
}

function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
      // A refused CONNECT may stay open.
      if (answer.includes(' 403 ')) socket.end()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(answer))
  })
}

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}
