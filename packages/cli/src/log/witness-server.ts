import { cosign } from '@atrium/log/signing'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { JoinedPieces } from '@atrium/contract/joined-pieces'
import { formatNote, formatSignature, signaturesOf, type Verifier } from '@atrium/log/note'
import { decideAddCheckpoint } from '@atrium/log/witness'
import type { WitnessState } from './witness-state.ts'

export interface WitnessOptions {
  /** The name in its cosignatures. */
  name: string
  seed: Uint8Array
  state: WitnessState
  /** The logs that it cosigns. */
  logKeys: readonly Verifier[]
  /** In milliseconds since 1970. */
  now?: () => number
  /** Called with one line for each refused checkpoint. */
  onRefusal?: (line: string) => void
}

const maxBodyBytes = 64 * 1024
const maxReadBytes = 1024 * 1024

interface Answer {
  status: number
  body: string
  type?: string
}

/** A witness over HTTP (C2SP tlog-witness): `POST /add-checkpoint` and `GET /{hash of the origin}/checkpoint`. */
export function createWitnessServer(options: WitnessOptions): Server {
  const { state, logKeys } = options
  const paths = new Map(logKeys.map(({ name }) => [`/${createHash('sha256').update(name).digest('hex')}/checkpoint`, name]))
  // One at a time: what is compared must still be the last checkpoint when it is replaced.
  let queue: Promise<unknown> = Promise.resolve()
  const inTurn = (run: () => Promise<Answer>) => {
    const answer = queue.then(run)
    queue = answer.catch(() => undefined)
    return answer
  }

  const answer = async (req: IncomingMessage): Promise<Answer> => {
    const path = req.url ?? ''
    if (path === '/add-checkpoint') {
      if (req.method !== 'POST') return { status: 405, body: 'POST is needed\n' }
      const body = await readBody(req)
      if (body === undefined) return { status: 413, body: `at most ${maxBodyBytes} bytes are read\n` }
      return inTurn(() => addCheckpoint(options, body))
    }
    const origin = paths.get(path)
    const signed = origin === undefined ? undefined : state.findCheckpoint(origin)
    if (signed === undefined) return { status: 404, body: 'not found\n' }
    return req.method === 'GET' || req.method === 'HEAD'
      ? { status: 200, body: signed }
      : { status: 405, body: 'GET is needed\n' }
  }

  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (req, res) => {
    answer(req).then(
      (found) => send(res, found),
      (error: unknown) => {
        // Whoever sent only a part of a request is gone, and nothing here has failed.
        if (req.destroyed && !req.complete) return
        console.error(error)
        send(res, { status: 500, body: 'the witness has failed\n' })
      },
    )
  })
  server.maxConnections = 256
  return server
}

async function addCheckpoint({ name, seed, state, logKeys, now, onRefusal }: WitnessOptions, body: string): Promise<Answer> {
  const decision = decideAddCheckpoint(body, { logKeys, findTree: (origin) => state.findTree(origin) })
  if (decision.outcome !== 'cosign') {
    const { status, body } = decision
    const reason = decision.outcome === 'refused' ? body.trim() : decision.reason
    // The text has only what this program wrote, and an origin that may come from a stranger.
    if (reason !== undefined) onRefusal?.(`refused with ${status}: ${JSON.stringify(reason)}`)
    return { status, body, ...(decision.outcome === 'conflict' ? { type: 'text/x.tlog.size' } : {}) }
  }
  const { origin, note } = decision.checkpoint
  const line = cosign(note.text, name, seed, Math.floor((now ?? Date.now)() / 1_000))
  // Only verified signatures are kept: one of each key of the log. Anyone may repeat one, and a note with too many lines
  // could not be read back.
  const ofLog = logKeys.filter((key) => key.name === origin).flatMap((key) => signaturesOf(note, key).slice(0, 1))
  await state.replace(origin, formatNote({ text: note.text, signatures: [...ofLog, line] }))
  return { status: 200, body: formatSignature(line) }
}

function send(res: ServerResponse, { status, body, type }: Answer): void {
  res.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  res.end(body)
}

/**
 * undefined: it is too long. Some of the rest is read too: a sender that is cut off in its body does not see the answer.
 * After that, the connection is closed.
 */
async function readBody(req: IncomingMessage): Promise<string | undefined> {
  const pieces = new JoinedPieces()
  let length = 0
  for await (const piece of req as AsyncIterable<Buffer>) {
    length += piece.length
    if (length <= maxBodyBytes) pieces.add(piece)
    else if (length > maxReadBytes) break
  }
  return length > maxBodyBytes ? undefined : pieces.take().toString()
}
