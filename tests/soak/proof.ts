import { lineHash, checkChain } from '@atrium/sealing/node-lines'
import { call } from '../support/call-api.ts'
import type { Installation } from './installation.ts'
import type { LoadWorld, Room } from './load.ts'

/** Compares what was acknowledged with what exists. Returns a line for each difference. */
export async function proveAll(installation: Installation, world: LoadWorld): Promise<string[]> {
  const wrong: string[] = []
  const { origin } = installation
  const audit = await call(origin, 'GET /v1/operator/audit', { operator: true, timeoutMs: 120_000 })
  if (audit.status !== 200) wrong.push(`audit: ${audit.status} ${audit.text}`)
  for (const finding of audit.data.findings ?? []) wrong.push(`audit: ${JSON.stringify(finding)}`)
  for (const [collection, items] of world.acknowledged.items) {
    const found = await listItems(origin, world.tenant.secret, collection)
    const numbers = new Map<number, number>()
    for (const { n } of found.values()) numbers.set(n, (numbers.get(n) ?? 0) + 1)
    for (const [id, n] of items) if (!found.has(id)) wrong.push(`item ${id} (${n}) was acknowledged and is gone`)
    for (const [n, times] of numbers) if (times > 1) wrong.push(`item ${n} is there ${times} times`)
    const count = (await call(origin, `GET /v1/collections/${collection.id}`, { key: world.tenant.secret })).data.item_count
    if (count !== found.size) wrong.push(`item_count of ${collection.id} says ${count}, there are ${found.size}`)
  }
  for (const [room, texts] of world.acknowledged.turns) wrong.push(...(await proveRoom(origin, room, texts)))
  return wrong
}

async function listItems(origin: string, key: string, { id, token }: { id: string; token: string }) {
  const found = new Map<string, { n: number }>()
  let cursor: string | undefined
  do {
    const path = `GET /v1/collections/${id}/items?limit=200${cursor ? `&cursor=${cursor}` : ''}`
    const answer = await call(origin, path, { key, token })
    for (const item of answer.data.items) found.set(item.id, { n: item.content['n'] as number })
    cursor = (JSON.parse(answer.text) as { meta?: { next_cursor?: string } }).meta?.next_cursor
  } while (cursor)
  return found
}

async function proveRoom(origin: string, room: Room, texts: Set<string>): Promise<string[]> {
  if (texts.size === 0) return []
  const wrong: string[] = []
  const stored = await call(origin, 'POST /v1/space', { body: { op: 'sealed', room: room.room }, timeoutMs: 120_000 })
  const { sealed } = JSON.parse(stored.text) as { sealed: string }
  const lines = sealed.split('\n').filter((line) => line !== '')
  const broken = checkChain(lines, { fromSeq: 0 })
  if (broken) wrong.push(`room ${room.room}: the chain breaks at ${broken.seq}: ${broken.problem}`)
  const seen = new Map<string, number>()
  let since = { sinceEtag: '', sinceCount: 0 }
  for (;;) {
    const poll = await call(origin, 'POST /v1/space', { body: { op: 'poll', ...room, ...since, limit: 500 } })
    const page = JSON.parse(poll.text) as { entries?: { seq: number; message: { text: string } }[]; etag: string }
    if (!page.entries) return [...wrong, `room ${room.room}: ${poll.status} ${poll.text.slice(0, 200)}`]
    if (page.entries.length === 0) break
    for (const { message } of page.entries) seen.set(message.text, (seen.get(message.text) ?? 0) + 1)
    since = { sinceEtag: '', sinceCount: page.entries.at(-1)!.seq + 1 }
    if (since.sinceCount >= lines.length) {
      if (lineHash(lines.at(-1)!) !== page.etag && page.etag !== undefined) wrong.push(`room ${room.room}: another etag`)
      break
    }
  }
  for (const text of texts) if (!seen.has(text)) wrong.push(`room ${room.room}: "${text}" was acknowledged and is gone`)
  for (const [text, times] of seen) if (times > 1) wrong.push(`room ${room.room}: "${text}" is there ${times} times`)
  return wrong
}
