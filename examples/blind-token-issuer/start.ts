// An issuer of blind tokens (RFC 9474): signs what a browser has blinded, and shows on a page that its log does not
// tell whose token was redeemed. Atrium has the public key only, and pays each token out of the issuer's balance.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { cp, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { createClient } from '@atrium/client'
import { blindSign } from '@atrium/client/blind-sign'

const { PORT: port = '8792', ATRIUM_URL: atriumUrl = 'http://localhost:8787', ATRIUM_SECRET_KEY: key } = process.env
const value = 10
const atrium = createClient({ baseUrl: atriumUrl, ...(key ? { key } : {}) })
const publicFolder = new URL('public/', import.meta.url)

interface Issuer {
  /** PEM. Anyone who has it can make tokens, so an issuer that sells them keeps it in a key store. */
  privateKey: string
  epoch: string
  /** For the page: redeeming needs no more. */
  publishableKey: string
}

/** Everything that the issuer ever learns of a buyer: who asked, the blinded message, and the signature that was given. */
const log: { buyer: string; blinded: string; blindSignature: string }[] = []

async function findOrOpenIssuer(): Promise<Issuer> {
  const file = new URL('issuer.json', import.meta.url)
  const keep = async (what: Partial<Issuer>) => {
    const written = new URL('issuer.json.new', import.meta.url)
    await writeFile(written, `${JSON.stringify(what)}\n`, { mode: 0o600 })
    await rename(written, file)
  }
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const kept = text === undefined ? {} : (JSON.parse(text) as Partial<Issuer>)
  if (kept.privateKey && kept.epoch && kept.publishableKey) return kept as Issuer
  if (!key) throw new Error('set ATRIUM_SECRET_KEY to the secret key (wsk_…) that the first start of Atrium printed')
  const privateKey = kept.privateKey
    ? createPrivateKey(kept.privateKey)
    : generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  // Kept before it is published: tokens of an epoch whose key is lost can never be signed.
  await keep({ privateKey: pem })
  const { n = '', e = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  await fund(10 * value)
  // The same Idempotency-Key for the same key: after a lost answer, the next start gets it again, within a day.
  const { data: published } = await atrium.publishEpoch({
    idempotencyKey: `epoch-${n.slice(0, 86)}`,
    body: { public_key: { kty: 'RSA', n, e }, value },
  })
  const { data: made } = await atrium.createKey({ body: { kind: 'publishable', name: 'token page' } })
  const issuer = { privateKey: pem, epoch: published.epoch, publishableKey: made.key }
  await keep(issuer)
  return issuer
}

/** Credits that the tokens are paid out of. */
async function fund(credits: number): Promise<void> {
  const back = `http://localhost:${port}/`
  const { data: sale } = await atrium.createCheckout({
    body: { purpose: 'prefund', credits, success_url: back, cancel_url: back },
  })
  // Presses the button of the built-in test page. Where Stripe is configured, a person pays at that address.
  if (new URL(sale.url).origin === new URL(atriumUrl).origin)
    await fetch(sale.url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
  else console.log(`Pay at ${sale.url}`)
}

/** Signs for a buyer, who would have paid before. The same request again gets the same signature, and is not sold twice. */
function sell({ buyer, blinded }: { buyer: string; blinded: string }, privateKey: KeyObject): string {
  const sold = log.find((entry) => entry.blinded === blinded)
  if (sold) return sold.blindSignature
  const blindSignature = blindSign(privateKey, blinded)
  log.push({ buyer, blinded, blindSignature })
  return blindSignature
}

async function answer(req: IncomingMessage, res: ServerResponse, { epoch, publishableKey }: Issuer, privateKey: KeyObject) {
  // A foreign page may resolve its own name to 127.0.0.1.
  if (![`localhost:${port}`, `127.0.0.1:${port}`].includes(req.headers.host ?? '')) return void res.writeHead(404).end()
  if (req.method === 'POST' && req.url === '/buy') {
    if (req.headers['sec-fetch-site'] !== 'same-origin') return void res.writeHead(400).end()
    let body = ''
    let length = 0
    // A sender that is cut off in its body does not see the answer, so some of what is too long is read too.
    for await (const part of req.setEncoding('utf8') as AsyncIterable<string>) {
      length += part.length
      if (length <= 4_096) body += part
      else if (length > 1_000_000) return void res.writeHead(413).end()
    }
    if (length > 4_096) return void res.writeHead(413).end()
    const { buyer, blinded } = JSON.parse(body) as Record<string, unknown>
    if (typeof buyer !== 'string' || typeof blinded !== 'string' || buyer.length > 60) return void res.writeHead(400).end()
    return send(res, { blindSignature: sell({ buyer, blinded }, privateKey) })
  }
  if (req.url === '/settings') return send(res, { url: atriumUrl, key: publishableKey, epoch, value })
  // Public, to look at it: what it holds tells nothing of the tokens.
  if (req.url === '/log') return send(res, log)
  const address = `http://localhost${req.url}`
  const path = URL.canParse(address) ? new URL(address).pathname : '/missing'
  const content = await readFile(new URL(`.${path === '/' ? '/index.html' : path}`, publicFolder)).catch(() => undefined)
  if (content === undefined) return void res.writeHead(404).end('Not found')
  const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }
  const policy =
    "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
    `connect-src 'self' ${new URL(atriumUrl).origin}`
  const type = `${types[extname(path)] ?? 'text/html'}; charset=utf-8`
  res.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(content)
}

function send(res: ServerResponse, body: object): void {
  res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
}

try {
  const client = new URL('.', import.meta.resolve('@atrium/client'))
  if (!client.pathname.endsWith('/dist/')) throw new Error('install the client first: npm install')
  await cp(client, new URL('client/', publicFolder), { recursive: true })
  const issuer = await findOrOpenIssuer()
  const privateKey = createPrivateKey(issuer.privateKey)
  const server = createServer((req, res) => {
    answer(req, res, issuer, privateKey).catch((error: unknown) => {
      // What does not parse, or is no number below the modulus.
      console.warn(error instanceof Error ? error.message : error)
      if (!res.headersSent) res.writeHead(400).end()
    })
  })
  server.listen(Number(port), '127.0.0.1', () => console.log(`\n  Tokens are given at   http://localhost:${port}/\n`))
} catch (error) {
  console.error(`blind-token-issuer: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
}
