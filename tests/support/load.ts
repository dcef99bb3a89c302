import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, askGood, call, type CallOptions, makeTenant, NoAnswer, type TestTenant } from './call-api.ts'
import { dot, uploadFile } from './upload-file.ts'

type Kind = 'item' | 'turn' | 'file'

/** A write that was answered. */
interface Acknowledged {
  kind: Kind
  id: string
  atMs: number
}

interface LoadOptions {
  /** Whose collection it is; by default, a new tenant's. */
  tenant?: TestTenant
  itemWriters?: number
  pauseMs?: number
}

export interface Load {
  acknowledged: readonly Acknowledged[]
  /** What reads everything that was written: a poll of the room, and the items of the collection. */
  poll: object
  itemsPath: string
  owner: { key: string; token: string }
  /** Each write under way is completed first. Throws if one was refused. */
  stop(): Promise<void>
  /** Ends at once, where the test has failed: what is under way is given up. */
  abandon(): void
  /** Fails unless the installation has all of these. */
  assertKept(origin: string, expected: readonly Acknowledged[]): Promise<void>
  /** Fails unless each acknowledged item and turn is there once. Files may be there twice: an upload is tried anew. */
  assertOnce(origin: string): Promise<void>
}

/**
 * Clients that write items, turns of a room and files, each as soon as its last write is acknowledged. What gets no
 * answer, or 409, 429 or 5xx, is sent again with the same Idempotency-Key or client_id, as the guides tell clients to.
 * `pauseMs` after each write keeps the load steady.
 */
export async function startLoad(origin: string, options: LoadOptions = {}): Promise<Load> {
  const { tenant = await makeTenant(origin), itemWriters = 8, pauseMs = 0 } = options
  const key = tenant.publishable
  const collection = (await askGood(origin, 'POST /v1/collections', { key, body: {} })).data
  const path = `/v1/collections/${collection.id}`
  const owner = { key, token: collection.admin_token }
  const room = { room: `shelter-${randomUUID()}`, mk: randomBytes(32).toString('base64url') }
  const poll = { op: 'poll', ...room, sinceEtag: '', sinceCount: 0 }

  const acknowledged: Acknowledged[] = []
  let stopped = false
  const abandoned = new AbortController()
  const write = async (kind: Kind, once: () => Promise<string>) => {
    while (!stopped) {
      const id = await once()
      acknowledged.push({ kind, id, atMs: Date.now() })
      await delay(pauseMs)
    }
  }
  const addItem = async () => {
    const body = { type: 'message', content: { text: randomUUID() } }
    return (await persist(abandoned.signal, origin, `POST ${path}/items`, { key, idempotencyKey: randomUUID(), body })).data.id
  }
  const takeTurn = async () => {
    const body = { op: 'turn', ...room, message: { text: 'Hello', client_id: randomUUID() } }
    return (JSON.parse((await persist(abandoned.signal, origin, 'POST /v1/space', { body })).text) as { id: string }).id
  }
  const upload = async (): Promise<string> => {
    for (;;) {
      const sent = await uploadFile({ origin, collection: collection.id, ...owner }, 'image/png', dot, 'image').catch(
        () => undefined,
      )
      if (sent && sent.status < 300) return sent.id
      abandoned.signal.throwIfAborted()
      await delay(100)
    }
  }
  const writing = Promise.all([
    ...Array.from({ length: itemWriters }, () => write('item', addItem)),
    write('turn', takeTurn),
    write('file', upload),
  ])
  // Reported by stop().
  writing.catch(() => undefined)

  const itemIds = (from: string) => listItems(from, `${path}/items`, owner)
  const turnIds = (from: string) => listTurns(from, poll)
  return {
    acknowledged,
    poll,
    itemsPath: `${path}/items`,
    owner,
    stop: async () => {
      stopped = true
      await writing
    },
    abandon: () => {
      stopped = true
      abandoned.abort()
    },
    assertKept: async (from, expected) => {
      const idsOf = (kind: Kind) => expected.flatMap((one) => (one.kind === kind ? [one.id] : []))
      const [items, turns] = [new Set(await itemIds(from)), new Set(await turnIds(from))]
      const missing = [...idsOf('item').filter((id) => !items.has(id)), ...idsOf('turn').filter((id) => !turns.has(id))]
      assert.deepEqual(missing, [], `${missing.length} are missing; ${items.size} items and ${turns.size} turns are there`)
      for (const id of idsOf('file')) assert.equal((await call(from, `GET /v1/media/${id}`, owner)).status, 200)
    },
    assertOnce: async (from) => {
      const countOf = (kind: Kind) => acknowledged.filter((one) => one.kind === kind).length
      const found = [(await itemIds(from)).length, (await turnIds(from)).length]
      assert.deepEqual(found, [countOf('item'), countOf('turn')])
    },
  }
}

async function persist(abandoned: AbortSignal, origin: string, route: string, options: CallOptions): Promise<Answer> {
  for (const deadline = Date.now() + 120_000; ; await delay(50)) {
    const answer = await call(origin, route, options).catch((error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error
      return error
    })
    if (!(answer instanceof NoAnswer)) {
      if (answer.status < 300) return answer
      const isTransient = answer.status >= 500 || answer.status === 409 || answer.status === 429
      assert.ok(isTransient, `${route}: ${answer.status} ${answer.text}`)
    }
    abandoned.throwIfAborted()
    assert.ok(Date.now() < deadline, `${route}: ${answer instanceof NoAnswer ? answer.message : answer.text}`)
  }
}

async function listItems(origin: string, path: string, owner: Load['owner']): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = await askGood(origin, `GET ${path}?limit=200${query}`, owner)
    ids.push(...page.data.items.map(({ id }) => id))
    cursor = (JSON.parse(page.text) as { meta?: { next_cursor?: string } }).meta?.next_cursor
  }
  return ids
}

async function listTurns(origin: string, poll: object): Promise<string[]> {
  const ids: string[] = []
  for (let sinceCount = 0; ;) {
    const { text } = await askGood(origin, 'POST /v1/space', { body: { ...poll, sinceCount, limit: 500 } })
    const { count, entries } = JSON.parse(text) as { count: number; entries: { id: string }[] }
    ids.push(...entries.map(({ id }) => id))
    if (count === sinceCount) return ids
    sinceCount = count
  }
}
