import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { certificateKey, validCertificate } from '../packages/server/testing/loopback-certificates.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant } from './support/call-api.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

const page = readFileSync(new URL('../docs/operating/tls-and-reverse-proxy.md', import.meta.url), 'utf8')
const configOf = (language: string) => new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(page)![1]!

let database: TestDatabase
let atrium: AtriumProcess
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-proxy-'))
  await Promise.all([
    writeFile(join(folder, 'fullchain.pem'), validCertificate),
    writeFile(join(folder, 'privkey.pem'), certificateKey),
  ])
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, env: { ATRIUM_TRUST_PROXY: 'loopback', ATRIUM_RATE_LIMIT: '1' } })
})
after(async () => {
  await atrium?.end()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

interface Ports {
  api: number
  space: number
  https: number
}

/** Starts the proxy with the configuration of the page, in which names, ports and certificates are those of the test. */
type StartProxy = (ports: Ports) => Promise<{ child: ChildProcess; origin: string }>

const startNginx: StartProxy = async ({ api, space, https }) => {
  const sites = configOf('nginx')
    .replace('127.0.0.1:8787', `127.0.0.1:${api}`)
    .replace('127.0.0.1:8788', `127.0.0.1:${space}`)
    .replaceAll('/etc/letsencrypt/live/atrium.example', folder)
    .replaceAll('listen 443', `listen 127.0.0.1:${https}`)
    .replace('listen 80', `listen 127.0.0.1:${await freePort()}`)
    .replaceAll('atrium.example', 'localhost')
  const place = join(folder, `nginx-${https}`)
  await mkdir(place)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${place}/${kind};`)
  const whole = `daemon off; pid ${place}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}\n${sites}}`
  await writeFile(join(place, 'nginx.conf'), whole)
  const args = ['-e', 'stderr', '-p', place, '-c', join(place, 'nginx.conf')]
  const nginx = findProgram('nginx')!
  execFileSync(nginx, ['-t', ...args], { stdio: 'pipe' })
  return { child: spawn(nginx, args, { stdio: 'ignore' }), origin: `https://localhost:${https}` }
}

const startCaddy: StartProxy = async ({ api, space, https }) => {
  const place = join(folder, `caddy-${https}`)
  await mkdir(place)
  const sites = configOf('caddyfile')
    .replace('127.0.0.1:8787', `127.0.0.1:${api}`)
    .replace('127.0.0.1:8788', `127.0.0.1:${space}`)
    .replace(/^(atrium|spaces)\.example \{/gm, (_, name) => {
      const host = name === 'atrium' ? 'localhost' : 'tls.example.org'
      return `https://${host}:${https} {\n\tbind 127.0.0.1\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`
    })
  const file = join(place, 'Caddyfile')
  await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${sites}`)
  const env = { HOME: place, XDG_DATA_HOME: place, XDG_CONFIG_HOME: place, PATH: process.env['PATH'] }
  const caddy = findProgram('caddy')!
  const args = ['--config', file, '--adapter', 'caddyfile']
  execFileSync(caddy, ['validate', ...args], { env, stdio: 'pipe' })
  return { child: spawn(caddy, ['run', ...args], { env, stdio: 'ignore' }), origin: `https://localhost:${https}` }
}

for (const [name, startProxy] of [
  ['nginx', startNginx],
  ['caddy', startCaddy],
] as const) {
  describe(`${name} with the configuration of the page`, { skip: skipWithout(name), timeout: 60_000 }, () => {
    let proxy: Awaited<ReturnType<StartProxy>>
    let session: ClientHttp2Session
    let echo: Awaited<ReturnType<typeof startEcho>>
    before(async () => {
      echo = await startEcho()
      const https = await freePort()
      // The Space service is stood in for by a server that shows what the proxy sends.
      proxy = await startProxy({ api: Number(new URL(atrium.origin).port), space: echo.port, https })
      session = await untilConnected(proxy.origin)
    })
    after(async () => {
      session?.destroy()
      proxy?.child.kill('SIGTERM')
      if (proxy && proxy.child.exitCode === null) await once(proxy.child, 'exit')
      await echo?.close()
    })

    test('speaks HTTP/2 and serves the API, and /metrics to nobody', async () => {
      assert.equal(session.alpnProtocol, 'h2')
      const ready = await ask(session, { ':path': '/readyz' })
      assert.equal(ready.status, 200)
      assert.equal(ready.headers['strict-transport-security'], 'max-age=31536000')
      assert.equal((await ask(session, { ':path': '/metrics' })).status, 404)
    })

    test('sends the caller’s address instead of the one that the caller names', async () => {
      const other = name === 'nginx' ? 'spaces.example' : `tls.example.org:${new URL(proxy.origin).port}`
      const direct = connect(proxy.origin, { rejectUnauthorized: false, servername: other.split(':')[0]! })
      const { body } = await ask(direct, { ':path': '/echo', ':authority': other, 'x-forwarded-for': '203.0.113.9' })
      direct.destroy()
      const seen = JSON.parse(body) as Record<string, string>
      assert.equal(seen['x-forwarded-for'], '127.0.0.1')
      assert.equal(seen['x-forwarded-proto'], 'https')
      assert.equal(seen['host'], other)
    })

    test('passes an event of a stream on when it happens', async () => {
      const tenant = await makeTenant(atrium.origin)
      const { id } = (
        await askGood(atrium.origin, 'POST /v1/collections', {
          key: tenant.publishable,
          body: { item_access: 'open', wall: true },
        })
      ).data
      const stream = session.request({ ':path': `/v1/collections/${id}/wall/stream`, accept: 'text/event-stream' })
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const until = async (part: string) => {
        for (const deadline = Date.now() + 10_000; !text.includes(part); await delay(10)) assert.ok(Date.now() < deadline, text)
      }
      await until('\n\n')
      for (const word of ['first', 'second', 'third']) {
        await askGood(atrium.origin, `POST /v1/collections/${id}/items`, {
          key: tenant.publishable,
          body: { type: 'm', content: word },
        })
        const startedAt = Date.now()
        await until(`"${word}"`)
        assert.ok(Date.now() - startedAt < 8_000, `after ${Date.now() - startedAt} ms`)
      }
      stream.close()
    })

    test('passes the beginning of a body of 90 MiB on, and leaves the limits to Atrium', async () => {
      const tenant = await makeTenant(atrium.origin)
      const head = {
        ':path': '/v1/collections',
        ':method': 'POST',
        authorization: `Bearer ${tenant.publishable}`,
        'content-type': 'application/json',
        'content-length': String(90 * 1024 * 1024),
      }
      const { status, body } = await ask(session, head, Buffer.alloc(1024))
      assert.equal(status, 413)
      assert.equal(JSON.parse(body).error.code, 'payload_too_large')
    })
  })
}

for (const [name, startProxy] of [
  ['nginx', startNginx],
  ['caddy', startCaddy],
] as const)
  test(`${name} repeats no request that may have taken effect`, { skip: skipWithout(name), timeout: 60_000 }, async (t) => {
    const seen: string[] = []
    // An Atrium that ends in the middle of what it does: it has read the request, and the connection is cut.
    const api = createServer((req, res) => {
      seen.push(`${req.method} ${req.url}`)
      if (req.url === '/cut') return void res.destroy()
      void text(req).then((body) => res.end(`${req.method} ${body}`))
    }).listen(0, '127.0.0.1')
    await once(api, 'listening')
    const proxy = await startProxy({ api: (api.address() as AddressInfo).port, space: await freePort(), https: await freePort() })
    const session = await untilConnected(proxy.origin)
    t.after(async () => {
      session.destroy()
      api.closeAllConnections()
      api.close()
      proxy.child.kill('SIGTERM')
      if (proxy.child.exitCode === null) await once(proxy.child, 'exit')
    })
    for (const method of ['DELETE', 'PUT', 'POST', 'PATCH']) {
      // Leaves a connection that is kept: the next request goes through it.
      assert.equal((await ask(session, { ':path': '/kept' })).body, 'GET ')
      const { status } = await ask(session, { ':path': '/cut', ':method': method })
      assert.equal(status, 502, method)
      assert.deepEqual(seen.splice(0), ['GET /kept', `${method} /cut`])
    }
    const body = 'body '.repeat(40_000)
    for (const method of ['DELETE', 'PUT', 'POST', 'PATCH']) {
      const request = session.request({ ':path': '/whole', ':method': method }, { endStream: false })
      request.end(body)
      assert.ok((await text(request)) === `${method} ${body}`, `the body of ${method} arrives`)
    }
  })

async function untilConnected(origin: string): Promise<ClientHttp2Session> {
  for (const deadline = Date.now() + 10_000; ; await delay(50)) {
    const session = connect(origin, { rejectUnauthorized: false })
    try {
      await once(session, 'connect')
      session.on('error', () => undefined)
      return session
    } catch (error) {
      session.destroy()
      if (Date.now() > deadline) throw error
    }
  }
}

/** With a body that does not end by itself, unless there is none. */
async function ask(session: ClientHttp2Session, headers: Record<string, string>, begin?: Buffer) {
  const request = session.request(headers, { endStream: begin === undefined })
  request.on('error', () => undefined)
  if (begin) request.write(begin)
  const [answer] = (await once(request, 'response')) as [IncomingHttpHeaders]
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  request.close()
  return { status: Number(answer[':status']), headers: answer, body }
}

async function startEcho() {
  const server = createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
