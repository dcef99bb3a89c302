import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from './atrium-process.ts'
import { call, makeCollection, makeTenant } from './call-api.ts'
import { childWith, residentBytes } from './process-memory.ts'
import { queryDatabase } from './query-database.ts'

const mebibyte = 1024 * 1024
const roomLines = 1_100

/**
 * An installation with a room of 64 MiB and a collection of 200 items of 64 KiB, and requests for its large answers.
 */
export async function startSlowWorld() {
  const database = await createTestDatabase()
  const atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_TRUST_PROXY: 'loopback' } })
  const spacePid = await childWith(atrium.pid, 'space.mjs')
  const tenant = await makeTenant(atrium.origin)
  const collection = await makeCollection(atrium.origin, tenant.publishable)
  const secret = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
  await say(atrium.spacesOrigin, secret, 'first')
  await fill(database.url, secret.room, collection.id)
  const readable = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
  for (let i = 0; i < 30; i++) await say(atrium.spacesOrigin, readable, '\u0001'.repeat(16_000))

  const post = (path: string, body: object, from: string) => {
    const text = JSON.stringify(body)
    const head = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Forwarded-For: ${from}`,
    ]
    return `POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${text}`
  }
  const get = (path: string, headers: string[] = []) =>
    `GET ${path} HTTP/1.1\r\n${['Host: localhost', ...headers].join('\r\n')}\r\n\r\n`
  const owner = [`Authorization: Bearer ${tenant.publishable}`, `X-Collection-Token: ${collection.token}`]

  return {
    atrium,
    tenant,
    collection,
    room: secret.room,
    /** The most by which the processes grew while `run` ran, in MiB. */
    growth: async <T>(run: () => Promise<T>): Promise<{ result: T; apiMiB: number; spaceMiB: number }> => {
      const pids = [atrium.pid, spacePid]
      const before = await Promise.all(pids.map(residentBytes))
      const most = [...before]
      let done = false
      const watching = (async () => {
        for (; !done; await delay(100))
          for (const [i, pid] of pids.entries()) most[i] = Math.max(most[i]!, await residentBytes(pid))
      })()
      try {
        const result = await run()
        const [apiMiB, spaceMiB] = most.map((bytes, i) => Math.round((bytes - before[i]!) / mebibyte)) as [number, number]
        return { result, apiMiB, spaceMiB }
      } finally {
        done = true
        await watching
      }
    },
    sealedRequest: (path: string, from: string) => post(path, { op: 'sealed', room: secret.room }, from),
    pollRequest: (path: string, from: string) => post(path, { op: 'poll', ...readable }, from),
    itemsRequest: () => get(`/v1/collections/${collection.id}/items?limit=200`, owner),
    fileRequest: (path: string) => get(path),
    listItems: (limit: number, cursor = '') =>
      call(atrium.origin, `GET /v1/collections/${collection.id}/items?limit=${limit}${cursor && `&cursor=${cursor}`}`, {
        key: tenant.publishable,
        token: collection.token,
      }),
    end: async () => {
      await atrium.end('SIGKILL')
      await database.drop()
    },
  }
}

export type SlowWorld = Awaited<ReturnType<typeof startSlowWorld>>

async function say(origin: string, secret: object, text: string): Promise<void> {
  const res = await fetch(`${origin}/space`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ op: 'turn', ...secret, message: { text } }),
  })
  if (res.status !== 200) throw new Error(await res.text())
}

/** Bypasses the service, which would take minutes. `sealed` returns the stored lines. */
async function fill(databaseUrl: string, room: string, collectionId: string): Promise<void> {
  await queryDatabase(
    databaseUrl,
    `insert into room_lines (room, seq, line)
     select '${room}', n, '{"protected":"ab","recipients":[{"header":{"alg":"A256KW","kid":"room"},"encrypted_key":"ab"}],"iv":"ab",' ||
            '"ciphertext":"' || repeat(md5(n::text), 1870) || '","tag":"ab"}'
     from generate_series(2, ${roomLines - 1}) n`,
  )
  await queryDatabase(databaseUrl, `update rooms set count = ${roomLines}, bytes = ${64 * mebibyte} where room = '${room}'`)
  await queryDatabase(
    databaseUrl,
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select tenant_id, id, 'itm_' || lpad(n::text, 22, '0'), n, 'message', json_build_object('text', repeat(md5(n::text), 2000))
     from collections, generate_series(1, 200) n where id = '${collectionId}'`,
  )
}

/** Addresses in different networks. */
export function address(n: number): string {
  return `10.${n >> 8}.${n & 255}.1`
}
