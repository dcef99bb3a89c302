import type { FoundFarewell, LineReader } from '@atrium/room-client/line-reader'
import type { Entry } from '@atrium/room-client/space-ops'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { done } from '../indexed-db.ts'
import { keyName } from './key-name.ts'

/** Blocks of v1 had no farewells: they are not opened any more, and the first visit replaces them. */
const INFO = 'atrium/space-app/lines/v2'
const DATABASE = 'atrium-space-lines'
const BLOCKS = 'blocks'
const ROOMS = 'rooms'
/** The number of the block that has the state of the reader, in place of lines. */
const STATE = -1
/** Lines are stored in blocks of this many, because one block costs one decryption. */
const BLOCK_LINES = 128
/** Of all rooms on this device. The rooms that were opened least recently are dropped first. */
const MAX_BYTES = 64 * 1024 * 1024

/** Lines that this device has checked, from the first one on: the hash of each, and what is in them. */
export interface KeptLines {
  readonly hashes: readonly string[]
  readonly entries: readonly Entry[]
  readonly farewells: readonly FoundFarewell[]
}

/** What a reader needs besides the lines to continue after the last one. */
interface KeptState {
  /** How many lines it has read. */
  readonly count: number
  readonly state: unknown
}

interface Block {
  readonly iv: Uint8Array<ArrayBuffer>
  readonly sealed: ArrayBuffer
}

interface RoomUse {
  readonly usedAt: number
  readonly bytes: number
}

/**
 * Keeps opened lines of one room on this device, so that the next visit need not open them again. They are sealed under a
 * key that is derived from the room's key, so nobody can read or replace them without the link. Every method is best
 * effort: without storage, a visit opens all lines again.
 */
export class LineCache {
  /** The name under which the cache is stored. */
  readonly #name: string
  readonly #key: CryptoKey
  readonly #db: IDBDatabase
  /** The sizes of the blocks that were read or written. */
  readonly #bytes = new Map<number, number>()
  #last: Promise<unknown> = Promise.resolve()

  private constructor(name: string, key: CryptoKey, db: IDBDatabase) {
    this.#name = name
    this.#key = key
    this.#db = db
  }

  /** Undefined if this browser stores nothing. `owner`: of a room with a list. */
  static async open({ room, mk }: RoomSecret, owner = ''): Promise<LineCache | undefined> {
    const utf8 = new TextEncoder()
    const ikm = await crypto.subtle.importKey('raw', utf8.encode(mk), 'HKDF', false, ['deriveKey'])
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode(room), info: utf8.encode(INFO) }
    const key = await crypto.subtle.deriveKey(hkdf, ikm, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const name = startOf(room) + (await keyName({ room, mk }, owner))
    try {
      return new LineCache(name, key, await openDatabase())
    } catch {
      return undefined
    }
  }

  /** The lines from the first one on, up to the first block that is missing, cannot be opened or does not follow. */
  async read(): Promise<KeptLines> {
    const hashes: string[] = []
    const entries: Entry[] = []
    const farewells: FoundFarewell[] = []
    try {
      const blocks = await done<Block[]>(this.#db.transaction(BLOCKS).objectStore(BLOCKS).getAll(rangeOf(this.#name)))
      const opened = await Promise.all(blocks.map((block, index) => this.#open<KeptLines>(block, index)))
      for (const [index, lines] of opened.entries()) {
        if (!lines || hashes.length !== index * BLOCK_LINES) break
        hashes.push(...lines.hashes)
        for (const entry of lines.entries) entries.push(entry)
        farewells.push(...lines.farewells)
        this.#bytes.set(index, blocks[index]?.sealed.byteLength ?? 0)
      }
    } catch {
      // What was read so far is whole: the service continues it.
    }
    return { hashes, entries, farewells }
  }

  /** The state that was stored with exactly so many lines. */
  async readState(count: number): Promise<unknown> {
    try {
      const block = await done<Block | undefined>(this.#db.transaction(BLOCKS).objectStore(BLOCKS).get([this.#name, STATE]))
      const kept = block && (await this.#open<KeptState>(block, STATE))
      if (block) this.#bytes.set(STATE, block.sealed.byteLength)
      return kept?.count === count ? kept.state : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Stores the lines of which the numbers from `from` on are new. `entriesFrom` returns their messages from a line on.
   * `state`: of a reader that needs more than the lines to continue.
   */
  async write(
    from: number,
    { hashes, farewells }: Pick<LineReader, 'hashes' | 'farewells'>,
    entriesFrom: (seq: number) => readonly Entry[],
    state?: unknown,
  ): Promise<void> {
    const first = Math.floor(from / BLOCK_LINES)
    const start = first * BLOCK_LINES
    const blocks: { index: number; lines: KeptLines & { entries: Entry[] } }[] = []
    for (let at = start; at < hashes.length; at += BLOCK_LINES) {
      const inBlock = farewells.filter(({ seq }) => seq >= at && seq < at + BLOCK_LINES)
      const lines = { hashes: hashes.slice(at, at + BLOCK_LINES), entries: [], farewells: inBlock }
      blocks.push({ index: at / BLOCK_LINES, lines })
    }
    for (const entry of entriesFrom(start)) blocks[Math.floor(entry.seq / BLOCK_LINES) - first]?.lines.entries.push(entry)
    const contents: { index: number; lines: KeptLines | KeptState }[] = [...blocks]
    if (state !== undefined) contents.push({ index: STATE, lines: { count: hashes.length, state } })
    const sealed = await Promise.all(contents.map(async ({ index, lines }) => ({ index, block: await this.#seal(index, lines) })))
    // One after the other: an older end of the room must not replace a newer one.
    this.#last = this.#last.then(() => this.#put(sealed)).catch(() => undefined)
    await this.#last
  }

  async #put(sealed: readonly { index: number; block: Block }[]): Promise<void> {
    for (const { index, block } of sealed) this.#bytes.set(index, block.sealed.byteLength)
    const bytes = [...this.#bytes.values()].reduce((sum, one) => sum + one, 0)
    const transaction = this.#db.transaction([BLOCKS, ROOMS], 'readwrite')
    const [blocks, rooms] = [transaction.objectStore(BLOCKS), transaction.objectStore(ROOMS)]
    try {
      for (const { index, block } of sealed) blocks.put(block, [this.#name, index])
      rooms.put({ usedAt: Date.now(), bytes } satisfies RoomUse, this.#name)
      await makeSpace(blocks, rooms)
    } catch (error) {
      // Otherwise it would commit blocks that no room counts, which nothing would ever drop.
      abort(transaction)
      throw error
    }
    await committed(transaction)
  }

  async #open<Content>({ iv, sealed }: Block, index: number): Promise<Content | undefined> {
    try {
      const content = await crypto.subtle.decrypt(this.#gcm(index, iv), this.#key, sealed)
      return JSON.parse(new TextDecoder().decode(content)) as Content
    } catch {
      return undefined
    }
  }

  async #seal(index: number, lines: KeptLines | KeptState): Promise<Block> {
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const content = new TextEncoder().encode(JSON.stringify(lines))
    return { iv, sealed: await crypto.subtle.encrypt(this.#gcm(index, iv), this.#key, content) }
  }

  /** The place of the block is authenticated, so that no block can take the place of another one. */
  #gcm(index: number, iv: Uint8Array<ArrayBuffer>) {
    return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(`${this.#name}/${index}`) }
  }
}

/** Drops what this device keeps of a room, or of all rooms. Resolves also where nothing can be stored. */
export async function dropLines(room?: string): Promise<void> {
  try {
    const db = await openDatabase()
    const transaction = db.transaction([BLOCKS, ROOMS], 'readwrite')
    const [blocks, rooms] = [transaction.objectStore(BLOCKS), transaction.objectStore(ROOMS)]
    if (room === undefined) {
      blocks.clear()
      rooms.clear()
    } else {
      const start = startOf(room)
      const names = await done(rooms.getAllKeys())
      // Earlier releases stored under the name of the room alone.
      for (const name of names.map(String)) if (name === room || name.startsWith(start)) drop(name, blocks, rooms)
    }
    await committed(transaction)
    db.close()
  } catch {
    // Storage is off: nothing was kept.
  }
}

/** Within the transaction that has written. A room that is too large for this device is dropped, too. */
async function makeSpace(blocks: IDBObjectStore, rooms: IDBObjectStore): Promise<void> {
  const [names, uses] = await Promise.all([done(rooms.getAllKeys()), done<RoomUse[]>(rooms.getAll())])
  const known = uses.map((use, i) => ({ ...use, name: String(names[i]) })).sort((a, b) => a.usedAt - b.usedAt)
  let total = known.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of known) {
    if (total <= MAX_BYTES) return
    drop(name, blocks, rooms)
    total -= bytes
  }
}

function drop(name: string, blocks: IDBObjectStore, rooms: IDBObjectStore): void {
  blocks.delete(rangeOf(name, STATE))
  rooms.delete(name)
}

/** The keys of the blocks of a room, in their order. */
function rangeOf(name: string, first = 0): IDBKeyRange {
  return IDBKeyRange.bound([name, first], [name, Number.MAX_SAFE_INTEGER])
}

/** How the names of all caches of a room begin. No room has a slash in its name. */
function startOf(room: string): string {
  return `${room}/`
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1)
  request.addEventListener('upgradeneeded', () => {
    request.result.createObjectStore(BLOCKS)
    request.result.createObjectStore(ROOMS)
  })
  return done(request)
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // A request that failed has ended it already.
  }
}

/** Rejects if the device has no space left, too. Nothing was written then. */
function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve())
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB')))
  })
}
