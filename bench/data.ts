import type { Pool } from 'pg'
import { makeCursor } from '../packages/server/src/http/cursor.ts'
import { fillCollection, makeFloorTables } from './fill.ts'
import { publishFile } from './media.ts'
import { fetchPatiently, type Plan } from './plan.ts'
import { adminToken } from './servers.ts'

type Requests = Required<Pick<Plan, 'paths' | 'headers'>>

export interface Room {
  room: string
  mk: string
  etag: string
  count: number
}

async function fillRoom(origin: string, secret: { room: string; mk: string }): Promise<Room> {
  let end = { etag: '', count: 0 }
  for (let i = 0; i < 10; i++) {
    const res = await fetchPatiently(`${origin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ op: 'turn', ...secret, message: { text: 'Happy birthday, old lighthouse!' } }),
    })
    end = (await res.json()) as typeof end
  }
  return { ...secret, etag: end.etag, count: end.count }
}

const readableCount = 1_000
const metadata = { share_title: 'Lantern night', share_description: 'What we say to the old lighthouse', theme: 'dark' }

/** The data that the targets read and write. Each is created when the first target requests it. */
export class Data {
  readonly #pool: Pool
  readonly #origin: string
  readonly #signal: AbortSignal
  #key: Promise<string> | undefined
  #readable: Promise<string[]> | undefined

  /** `origin` is that of Atrium; empty if no target needs one. */
  constructor(pool: Pool, origin: string, signal: AbortSignal) {
    this.#pool = pool
    this.#origin = origin
    this.#signal = signal
  }

  async floorPaths(): Promise<string[]> {
    const ids = await makeFloorTables(this.#pool, readableCount, metadata)
    return ids.map((id) => `/collections/${id}`)
  }

  async insertPaths(count: number): Promise<string[]> {
    const ids = await makeFloorTables(this.#pool, readableCount, metadata)
    return ids.slice(0, count).map((id) => `/collections/${id}/items`)
  }

  async readable(): Promise<Requests> {
    this.#readable ??= this.#makeCollections(readableCount)
    return { paths: await this.#readable, headers: await this.#headers() }
  }

  async writable(count: number): Promise<Requests> {
    const paths = await this.#makeCollections(count)
    return { paths: paths.map((path) => `${path}/items`), headers: await this.#headers() }
  }

  /** Pages of 50, spread over a collection of that many items, including the first and the last page. */
  async filled(size: number): Promise<Requests> {
    const { id, admin_token: ownerToken } = await this.#makeCollection()
    await fillCollection(this.#pool, id, size, this.#signal)
    const pages = Math.min(1_000, size / 50)
    const paths = Array.from({ length: pages }, (_, i) => {
      const position = Math.floor((i * (size - 51)) / (pages - 1))
      return `/v1/collections/${id}/items?limit=50&cursor=${makeCursor(`items:${id}`, position)}`
    })
    return { paths, headers: { ...(await this.#headers()), 'x-collection-token': ownerToken } }
  }

  /** Published files of 1 MiB. */
  async media(count: number): Promise<string[]> {
    const { id, admin_token: ownerToken } = await this.#makeCollection()
    const headers = { ...(await this.#headers()), 'x-collection-token': ownerToken }
    return Promise.all(Array.from({ length: count }, () => publishFile(this.#origin, id, headers)))
  }

  /** One request body for each room. A room has about ten lines. */
  async rooms(spaceOrigin: string, count: number, bodyOf: (room: Room) => object): Promise<string[]> {
    const rooms = Array.from({ length: count }, () => ({ room: `bench-${crypto.randomUUID()}`, mk: crypto.randomUUID() }))
    const made = await Promise.all(rooms.map((secret) => fillRoom(spaceOrigin, secret)))
    return made.map((room) => JSON.stringify(bodyOf(room)))
  }

  /** One line for each collection of each of that many tenants: its path and the tenant's key, for requests.lua. */
  async tenants(count: number, collectionsEach: number): Promise<string[]> {
    const lines: string[][] = []
    const makeOne = async (tenant: number) => {
      const { publishable_key: key } = await this.#post<{ publishable_key: string }>(
        '/v1/tenants',
        { 'x-admin-token': adminToken },
        { name: `Bench ${tenant}` },
      )
      const made: string[] = []
      for (let i = 0; i < collectionsEach; i++) {
        const { id } = await this.#post<{ id: string }>('/v1/collections', { authorization: `Bearer ${key}` }, { metadata })
        made.push(`/v1/collections/${id}\t${key}`)
      }
      lines[tenant] = made
    }
    let next = 0
    const work = async () => {
      while (next < count && !this.#signal.aborted) await makeOne(next++)
    }
    await Promise.all(Array.from({ length: 16 }, work))
    this.#signal.throwIfAborted()
    return lines.flat()
  }

  async #makeCollections(count: number): Promise<string[]> {
    const made = await Promise.all(Array.from({ length: count }, () => this.#makeCollection()))
    return made.map(({ id }) => `/v1/collections/${id}`)
  }

  async #makeCollection() {
    return this.#post<{ id: string; admin_token: string }>('/v1/collections', await this.#headers(), { metadata })
  }

  async #headers() {
    this.#key ??= this.#post<{ publishable_key: string }>('/v1/tenants', { 'x-admin-token': adminToken }, { name: 'Bench' }).then(
      (tenant) => tenant.publishable_key,
    )
    return { authorization: `Bearer ${await this.#key}` }
  }

  async #post<T>(path: string, headers: Record<string, string>, body: object): Promise<T> {
    const res = await fetchPatiently(this.#origin + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (res.status !== 201) throw new Error(`POST ${path} answered ${res.status}: ${await res.text()}`)
    return ((await res.json()) as { data: T }).data
  }
}
