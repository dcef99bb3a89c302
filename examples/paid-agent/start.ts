// Plays a paid visit: registers the agent of agent.ts, buys credits, launches the agent into a room for some of them,
// and shows on a page what is said and where the credits go.
import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createClient, followStream, newRoomSecret, NotFoundError, openRoom } from '@atrium/client'

const { PORT: port = '8791', AGENT_PORT: agentPort = '8790', ATRIUM_SECRET_KEY: key } = process.env
const { ATRIUM_URL: atriumUrl = 'http://localhost:8787' } = process.env
if (!key) throw new Error('Set ATRIUM_SECRET_KEY to the secret key (wsk_…) that the first start of Atrium printed')

const price = 3
const atrium = createClient({ baseUrl: atriumUrl, key })
const secret = newRoomSecret()
const room = openRoom({ spaceUrl: `${atriumUrl}/v1/space`, ...secret })
const startedAt = new Date().toISOString()
const pages = new Set<ServerResponse>()
/** What the page shows of the conversation. */
const said: { author: string; text: string }[] = []
let coupon = ''
let session: { id: string; controlToken: string } | undefined

/** The Idempotency-Key of the registration, and what it returned. */
interface Kept {
  idempotencyKey?: string
  id?: string
  signingSecret?: string
}

/**
 * The agent is registered once: its signing secret is shown in that answer only. The key is kept before, so that a start
 * that follows a lost answer within a day gets the same answer.
 */
async function findOrRegisterAgent(): Promise<{ id: string; signingSecret: string }> {
  const file = new URL('agent.json', import.meta.url)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const { id, signingSecret, idempotencyKey = randomUUID() } = JSON.parse(text ?? '{}') as Kept
  if (id && signingSecret) return { id, signingSecret }
  const keep = async (what: Kept) => {
    const written = new URL('agent.json.new', import.meta.url)
    await writeFile(written, JSON.stringify(what), { mode: 0o600 })
    await rename(written, file)
  }
  await keep({ idempotencyKey })
  const manifest = { name: 'Dice', description: 'Rolls dice.', instructions: '', price_credits: price, max_minutes: 30 }
  const { data } = await atrium.registerAgent({
    idempotencyKey,
    body: { ...manifest, endpoint: `http://localhost:${agentPort}/` },
  })
  // For its own tenant only; `active` puts it into the public catalog.
  await atrium.setAgentStatus({ agentId: data.id, body: { status: 'private' } })
  const agent = { id: data.id, signingSecret: data.signing_secret ?? '' }
  await keep(agent)
  return agent
}

/** Credits for the tenant's balance, and a coupon of some of them. */
async function fund(): Promise<string> {
  const back = `http://localhost:${port}/`
  const { data: sale } = await atrium.createCheckout({
    body: { purpose: 'prefund', credits: 10, success_url: back, cancel_url: back },
  })
  // Presses the button of the built-in test page. Where Stripe is configured, a person pays at that address.
  if (new URL(sale.url).origin === new URL(atriumUrl).origin)
    await fetch(sale.url, { method: 'POST', body: new URLSearchParams({ do: 'pay' }), redirect: 'manual' })
  else console.log(`Pay at ${sale.url}`)
  while ((await atrium.getCheckout({ id: sale.id })).data.status === 'open')
    await new Promise((resolve) => setTimeout(resolve, 500))
  return (await atrium.grantCoupon({ body: { amount: 5, memo: 'One visit of the dice' } })).data.coupon
}

async function launch(agentId: string): Promise<void> {
  // The price that the page shows: should it be higher by now, nothing is launched and nothing is charged.
  const body = { agent_id: agentId, room: { room: secret.room, mk: secret.mk }, coupon, max_price_credits: price }
  const { data } = await atrium.launchSession({ body })
  if ('control_token' in data) session = { id: data.id, controlToken: data.control_token }
}

/** Sends each page what it shows; to `page` alone where it has just come. */
async function show(page?: ServerResponse): Promise<void> {
  const [wallet, movements, visit] = await Promise.all([
    atrium.lookUpWallet({ body: { wallet_code: coupon } }).then(
      ({ data }) => data,
      (error: unknown) => {
        if (error instanceof NotFoundError) return { balance: 0, held: 0 }
        throw error
      },
    ),
    atrium.listMovements({ query: { from: startedAt, limit: 20 } }),
    session && atrium.getSession(session),
  ])
  const state = {
    said,
    coupon: { free: wallet.balance, held: wallet.held },
    movements: movements.data.map(({ id, kind, from, to, amount }) => ({ id, kind, from, to, amount })),
    status: visit?.data.status ?? 'none',
    charged: visit?.data.charged_credits ?? 0,
    price,
  }
  for (const one of page ? [page] : pages) one.write(`data: ${JSON.stringify(state)}\n\n`)
}

/** A failed read of the state must not end the following. */
const report = (error: unknown) => console.error(error instanceof Error ? error.message : error)

async function followConversation(): Promise<void> {
  for await (const { author, message } of room.follow()) {
    said.push({ author: author.kind === 'agent' ? (author.name ?? 'Agent') : 'You', text: message.text })
    await show().catch(report)
  }
}

/** Every change of a session or of credits is an event. */
async function followEvents(): Promise<void> {
  for await (const { event } of followStream(atrium.streamEvents, {}))
    if (/^(session|coupon|checkout)\./.test(event)) await show().catch(report)
}

const policy = "default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
const files: Record<string, [name: string, type: string]> = {
  '/': ['index.html', 'text/html'],
  '/page.js': ['page.js', 'text/javascript'],
  '/page.css': ['page.css', 'text/css'],
}

async function answer(req: IncomingMessage, res: ServerResponse, agentId: string): Promise<void> {
  // A foreign page may resolve its own name to 127.0.0.1.
  if (![`localhost:${port}`, `127.0.0.1:${port}`].includes(req.headers.host ?? '')) return void res.writeHead(404).end()
  const file = files[req.url ?? '']
  if (file) {
    const content = await readFile(new URL(`public/${file[0]}`, import.meta.url))
    res.writeHead(200, { 'content-type': `${file[1]}; charset=utf-8`, 'content-security-policy': policy }).end(content)
  } else if (req.url === '/state') {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).flushHeaders()
    pages.add(res.once('close', () => pages.delete(res)))
    await show(res)
    // Another site that is open in the same browser must not press the page's buttons.
  } else if (req.method === 'POST' && req.headers['sec-fetch-site'] === 'same-origin') {
    if (req.url === '/launch') await launch(agentId)
    else if (req.url === '/say') await room.say(await text(req))
    else if (req.url === '/stop' && session) await atrium.stopSession(session)
    res.writeHead(204).end()
    await show()
  } else res.writeHead(404).end()
}

try {
  const agent = await findOrRegisterAgent()
  Object.assign(process.env, { SIGNING_SECRET: agent.signingSecret, PORT: agentPort })
  await import('./agent.ts')
  await atrium.callSpace({ body: { op: 'create', ...secret, policy: 'open', title: 'A visit of the dice' } })
  coupon = await fund()
  const server = createServer((req, res) => {
    answer(req, res, agent.id).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      console.error(message)
      if (!res.headersSent) res.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(message)
    })
  })
  server.listen(Number(port), '127.0.0.1', () => console.log(`\n  The visit is at   http://localhost:${port}/\n`))
  for (const following of [followConversation, followEvents]) following().catch((error: unknown) => console.error(error))
} catch (error) {
  console.error(`paid-agent: ${error instanceof Error ? error.message : error}`)
  console.error('An agent on this machine needs Atrium to be started with ATRIUM_EGRESS=loopback npm start')
  process.exit(1)
}
