import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { collectAppPage, collectCertificate } from './collect-entries.ts'

const script = 'console.log("app")\n'
const page = '<script type="module" src="/space/assets/app-1.js"></script><link href="/space/assets/app-1.css"><a href="/docs">'
const served = new Map<string, string>()
const cert = (code: string, sig = 's') =>
  JSON.stringify({ signed: JSON.stringify({ functionCodeSha256: code }), sig, alg: 'ES256', pubkey: {} })
/** The certificates of several processes, each connection gets the next one. */
let processes: string[] = []
let connections = 0
/** What another name of this server shows in turn. */
let elsewhere = { host: '', certificates: [''], asked: 0 }
let onPage: () => void = () => undefined

const server = createServer((req, res) => {
  const { certificates } = elsewhere
  const certificate = () =>
    req.headers.host === elsewhere.host ? certificates[elsewhere.asked++ % certificates.length] : ofConnection.get(req.socket)
  const body = (req.url === '/cert.json' && certificate()) || served.get(req.url ?? '')
  if (req.url === '/space') onPage()
  res.writeHead(body === undefined ? 404 : 200).end(body)
})
const ofConnection = new WeakMap<Socket, string>()
server.on('connection', (socket: Socket) => {
  const certificate = processes[connections++ % processes.length]
  if (certificate !== undefined) ofConnection.set(socket, certificate)
})
let api: TestApi
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  api = await startTestApi()
  Object.assign(api.ctx.config, { spaceOrigin: origin, spacesUrl: origin })
})
after(async () => {
  server.close()
  await api.close()
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
/** Where the address of what is shown now leads. */
const shown = async (type: string) =>
  (await fetch(`${api.origin}/log/proof/${type}`, { redirect: 'manual' })).headers.get('location')
const entries = async () =>
  (await api.ctx.db.pool.query('select entry from log_leaves order by queued_at')).rows.map(({ entry }) => String(entry))

test('the page is logged with the files that it names and the certified code, once', async () => {
  served.set('/cert.json', cert('Y29kZQ==')).set('/space', page).set('/space/assets/app-1.js', script)
  await collectAppPage(api.ctx)
  assert.deepEqual(await entries(), [], 'a file cannot be fetched')
  served.set('/space/assets/app-1.css', 'a{}')
  await collectAppPage(api.ctx)
  await collectAppPage(api.ctx)
  const files = [
    { path: '/space/assets/app-1.css', sha256: sha256('a{}') },
    { path: '/space/assets/app-1.js', sha256: sha256(script) },
  ]
  const entry = JSON.stringify({ type: 'app_page', page: sha256(page), files, code: 'Y29kZQ==' })
  assert.deepEqual(await entries(), [entry])
  assert.equal(await shown('app_page'), `/log/proof/${sha256(`\0${entry}`)}`)
})

test('another script, page or certificate is another entry', async () => {
  for (const [path, body] of [
    ['/space/assets/app-1.js', `${script}//`],
    ['/space', `${page} `],
    ['/cert.json', cert('b3RoZXI=')],
  ] as const) {
    const { length } = await entries()
    served.set(path, body)
    await collectAppPage(api.ctx)
    assert.equal((await entries()).length, length + 1, path)
  }
})

test('a service that is replaced meanwhile is not logged with the code of another', async () => {
  const before = await entries()
  served.set('/space', `${page}  `)
  onPage = () => served.set('/cert.json', cert('bmV3'))
  await collectAppPage(api.ctx)
  assert.deepEqual(await entries(), before)
})

test('a new certificate is logged together with the page of its code, and the same one costs nothing more', async () => {
  onPage = () => undefined
  served.set('/cert.json', cert('cmVsZWFzZQ==')).set('/space', `${page}   `)
  const before = await entries()
  await collectCertificate(api.ctx)
  const added = (await entries()).slice(before.length).map((entry) => (JSON.parse(entry) as { type: string }).type)
  assert.deepEqual(added.sort(), ['app_page', 'certificate'])
  let asked = 0
  onPage = () => void asked++
  await collectCertificate(api.ctx)
  assert.equal(asked, 0)
})

test('each process of Space has a certificate of its own, and all of them are logged at once', async () => {
  processes = ['a', 'b', 'c'].map((sig) => cert('cHJvY2Vzc2Vz', sig))
  const before = await entries()
  await collectCertificate(api.ctx)
  const added = (await entries()).slice(before.length).map((entry) => JSON.parse(entry) as { type: string; sig?: string })
  assert.deepEqual(added.flatMap(({ sig }) => sig ?? []).sort(), ['a', 'b', 'c'])
  assert.equal(added.filter(({ type }) => type === 'app_page').length, 1)
})

test('the public address also shows the certificates of other machines, and may be out of reach', async () => {
  const { config } = api.ctx
  const publicUrl = config.spaceOrigin.replace('127.0.0.1', 'localhost')
  processes = []
  served.set('/cert.json', cert('cHJvY2Vzc2Vz', 'here'))
  for (const [spacesUrl, expected] of [
    ['http://127.0.0.1:1', ['here']],
    [publicUrl, ['elsewhere']],
  ] as const) {
    Object.assign(config, { spacesUrl })
    // The balancer leads to this machine first.
    const certificates = ['here', 'elsewhere'].map((sig) => cert('cHJvY2Vzc2Vz', sig))
    elsewhere = { host: new URL(publicUrl).host, certificates, asked: 0 }
    const before = await entries()
    await collectCertificate(api.ctx)
    const added = (await entries()).slice(before.length).map((entry) => JSON.parse(entry) as { sig?: string })
    assert.deepEqual(
      added.flatMap(({ sig }) => sig ?? []),
      expected,
    )
  }
})
