// Receives the webhooks of Atrium: verifies each request, counts each event once, and shows what came on a page.
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createClient, NotFoundError, verifyWebhook, WebhookVerificationError } from '@atrium/client'
import { openInbox } from './inbox.ts'

const { PORT: port = '8789', ATRIUM_URL: atriumUrl = 'http://localhost:8787', ATRIUM_SECRET_KEY: key } = process.env
if (!key) throw new Error('Set ATRIUM_SECRET_KEY to the secret key (wsk_…) that the first start of Atrium printed')

const atrium = createClient({ baseUrl: atriumUrl, key })
const inbox = openInbox(process.env['INBOX'] ?? 'inbox.db')
const endpoint = `http://127.0.0.1:${port}/webhook`
const pages = new Set<ServerResponse>()
let secret = ''

const policy =
  "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
const files: Record<string, [name: string, type: string]> = {
  '/': ['index.html', 'text/html'],
  '/page.js': ['page.js', 'text/javascript'],
  '/page.css': ['page.css', 'text/css'],
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  // A foreign page may resolve its own name to 127.0.0.1.
  if (![`localhost:${port}`, `127.0.0.1:${port}`].includes(req.headers.host ?? '')) return void res.writeHead(404).end()
  const file = files[req.url ?? '']
  if (file) {
    const content = await readFile(new URL(`public/${file[0]}`, import.meta.url))
    res.writeHead(200, { 'content-type': `${file[1]}; charset=utf-8`, 'content-security-policy': policy }).end(content)
  } else if (req.url === '/webhook' && req.method === 'POST') await receive(req, res)
  else if (req.url === '/events') show(res)
  // The page's buttons. Another site that is open in the same browser must not press them.
  else if (req.method === 'POST' && req.headers['sec-fetch-site'] === 'same-origin') await act(req.url ?? '', res)
  else res.writeHead(404).end()
}

async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
  // Nothing can be verified before the answer to `register` has brought the secret.
  if (secret === '') return void res.writeHead(401).end()
  let body = ''
  let length = 0
  // Anyone can send a request here, so no more is kept than an event may have. Some of the rest is read too: a sender
  // that is cut off in its body does not see the answer.
  for await (const part of req.setEncoding('utf8') as AsyncIterable<string>) {
    length += part.length
    if (length <= 65_536) body += part
    else if (length > 1_000_000) return void res.writeHead(413).end()
  }
  if (length > 65_536) return void res.writeHead(413).end()
  try {
    // The unchanged bytes: JSON that was parsed and serialised again has another signature.
    const event = await verifyWebhook(body, req.headers, secret)
    // Stored before the answer, because the event is not sent again after a 2xx.
    const entry = inbox.receive(event)
    res.writeHead(204).end()
    for (const page of pages) send(page, entry)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    console.warn(`refused: ${error.reason}`)
    res.writeHead(401).end()
  }
}

/** Server-sent events for the page: what is in the inbox, then what comes. */
function show(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).flushHeaders()
  for (const entry of inbox.list()) send(res, entry)
  pages.add(res)
  res.once('close', () => pages.delete(res))
}

function send(page: ServerResponse, entry: object): void {
  page.write(`data: ${JSON.stringify(entry)}\n\n`)
}

async function act(path: string, res: ServerResponse): Promise<void> {
  const [, action, id = ''] = path.split('/')
  if (action === 'make') await atrium.createCollection({ body: { metadata: { share_title: 'Made for its event' } } })
  else if (action === 'again') await atrium.resendDelivery({ id })
  else return void res.writeHead(404).end()
  res.writeHead(204).end()
}

/** A tenant has one webhook. An existing one is replaced only with --replace. */
async function register(): Promise<void> {
  const present = await atrium.getWebhook({}).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined
    throw error
  })
  if (present && present.data.url !== endpoint && !process.argv.includes('--replace'))
    throw new Error(`the webhook of this tenant is ${present.data.url}. To replace it: npm start -- --replace`)
  // An event may arrive before the answer with the secret. It gets 401, and is sent again.
  const { data } = await atrium.setWebhook({ body: { url: endpoint, enabled: true, rotate_secret: true } })
  secret = data.secret ?? ''
}

const server = createServer((req, res) => {
  answer(req, res).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    if (!res.headersSent) res.writeHead(500).end()
  })
})
server.listen(Number(port), '127.0.0.1', () => {
  register().then(
    () => console.log(`\n  Webhooks arrive at   ${endpoint}\n  Watch them at        http://localhost:${port}/\n`),
    (error: unknown) => {
      console.error(`webhook-receiver: ${error instanceof Error ? error.message : error}`)
      console.error('A webhook on this machine needs Atrium to be started with ATRIUM_EGRESS=loopback npm start')
      process.exit(1)
    },
  )
})
