// A remote agent. It joins a room when it is launched, rolls the dice that people ask for, and leaves when the
// session ends.
import { randomInt } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { SessionLaunched } from '@atrium/client/agent-request'
import type { AgentSession } from '@atrium/client/agent-session'
import { joinSession, verifyAgentRequest } from '@atrium/client/remote-agent'

const { SIGNING_SECRET: secret = '', PORT: port = '8790' } = process.env
if (!secret) throw new Error('Set SIGNING_SECRET to the signing_secret that registering the agent returned')

/** By id; undefined while it is being joined. */
const sessions = new Map<string, AgentSession | undefined>()

async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let body = ''
  let length = 0
  // Anyone can send a request here, so it keeps no more than a launch may have. It reads some of the rest too: a sender
  // that is cut off in its body does not see the answer.
  for await (const part of req.setEncoding('utf8') as AsyncIterable<string>) {
    length += part.length
    if (length <= 262_144) body += part
    else if (length > 1_000_000) return void res.writeHead(413).end()
  }
  if (length > 262_144) return void res.writeHead(413).end()
  const request = await verifyAgentRequest(body, req.headers, secret).catch((error: unknown) => console.warn('refused:', error))
  // The agent answers first and works afterwards, because a launch without a timely answer is sent again.
  res.writeHead(request ? 204 : 401).end()
  if (request?.type === 'session.launched') await attend(request)
  if (request?.type === 'session.ended') sessions.get(request.session_id)?.end(request.status)
}

async function attend(launch: SessionLaunched): Promise<void> {
  const id = launch.session_id
  if (sessions.has(id)) return
  sessions.set(id, undefined)
  try {
    const session = await joinSession(launch)
    sessions.set(id, session)
    await session.say('Dice at your service: say 2d6, and I roll two of six sides.', { clientId: `${id}.hello` })
    for await (const entry of session.entries) {
      // Two agents that answer each other would never stop.
      if (entry.author.kind !== 'agent') await session.reply(entry, answerTo(entry.message.text))
    }
    console.log(`${id}: over`)
  } catch (error) {
    console.error(`${id}: left early`, error)
    await sessions.get(id)?.stop().catch(console.error)
  } finally {
    sessions.delete(id)
  }
}

function answerTo(said: string): string {
  const [dice, count = '1', sides = '6'] = /\b(\d{1,2})?d(\d{1,3})\b/.exec(said) ?? []
  if (!dice || Number(count) < 1 || Number(sides) < 2) return 'I roll what looks like d20 or 2d6.'
  const rolls = Array.from({ length: Number(count) }, () => randomInt(1, Number(sides) + 1))
  const sum = rolls.reduce((total, roll) => total + roll, 0)
  return rolls.length > 1 ? `${rolls.join(' + ')} = ${sum}` : `${sum}`
}

const server = createServer((req, res) => void receive(req, res).catch(console.warn))
server.listen(Number(port), () => console.log(`waiting for launches at port ${port}`))
