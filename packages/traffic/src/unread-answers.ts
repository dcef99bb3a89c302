import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

interface UnreadAnswersOptions {
  /** The size of all answers that are complete in memory and not read yet. */
  maxBytes?: number
  /** A client that takes less than a chunk in this time is disconnected. */
  idleMs?: number
  checkIntervalMs?: number
}

interface Watched {
  taken: number
  sinceMs: number
  /** A check found that it has taken nothing for too long. */
  isLate: boolean
  /** Longer than usual, for a client that normally pauses. */
  pauseMs?: number | undefined
}

const watchedOf = new WeakMap<Socket, Watched>()

/** Answers are sent in chunks of this size, because progress is visible only when a whole chunk was sent. */
export const pieceBytes = 64 * 1024

/**
 * Limits the memory for clients that do not read their answers. Complete answers count against a budget until they
 * are sent, and a connection whose client does not read is closed.
 */
export class UnreadAnswers {
  readonly #maxBytes: number
  readonly #idleMs: number
  readonly #checkIntervalMs: number
  readonly #sockets = new Map<Socket, Watched>()
  readonly #readers = new Map<string, number>()
  #bytes = 0

  constructor({ maxBytes = 32 * 1024 * 1024, idleMs = 30_000, checkIntervalMs = 2_000 }: UnreadAnswersOptions = {}) {
    this.#maxBytes = maxBytes
    this.#idleMs = idleMs
    this.#checkIntervalMs = checkIntervalMs
  }

  /** Closes the connections of this server whose client does not read what is being sent. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const watched = { taken: 0, sinceMs: 0, isLate: false }
      this.#sockets.set(socket, watched)
      watchedOf.set(socket, watched)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    const timer = setInterval(() => this.#check(performance.now()), this.#checkIntervalMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  /**
   * Whether an answer of that size could be sent to the reader now. A reader may have as much as stays free for all
   * others. One answer above the budget is sent when nothing else waits.
   */
  hasRoom(bytes: number, reader: string): boolean {
    return this.#bytes === 0 || this.#bytes + 2 * bytes + (this.#readers.get(reader) ?? 0) <= this.#maxBytes
  }

  /** Counts an answer until it is sent. false: there are too many, and it must not be sent. */
  take(res: ServerResponse, bytes: number, reader: string): boolean {
    if (!this.hasRoom(bytes, reader)) return false
    if (res.destroyed || res.req.socket.destroyed) return true
    this.#add(reader, bytes)
    onceOver(res, () => this.#add(reader, -bytes))
    return true
  }

  #add(reader: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#readers.get(reader) ?? 0) + bytes
    if (held === 0) this.#readers.delete(reader)
    else this.#readers.set(reader, held)
  }

  #check(nowMs: number): void {
    for (const [socket, watched] of this.#sockets) {
      const waiting = socket.writableLength
      const taken = socket.bytesWritten - waiting
      if (waiting === 0 || taken !== watched.taken || watched.sinceMs === 0) {
        watched.taken = taken
        watched.sinceMs = nowMs
        watched.isLate = false
      } else if (nowMs - watched.sinceMs >= (watched.pauseMs ?? this.#idleMs)) {
        // Only at the next check: while this process did not run, nobody could take anything.
        if (!watched.isLate) watched.isLate = true
        // Not destroy: a reset also frees what the kernel holds for the reader.
        else socket.resetAndDestroy()
      }
    }
  }
}

/** For how long the client of a watched connection has taken no chunk of what waits for it. */
export function unreadMs(socket: Socket): number {
  const watched = watchedOf.get(socket)
  const waiting = socket.writableLength
  if (!watched || watched.sinceMs === 0 || waiting === 0 || socket.bytesWritten - waiting !== watched.taken) return 0
  return performance.now() - watched.sinceMs
}

/** Lets the reader of this answer pause for longer than usual, as media players do. */
export function allowPause(res: ServerResponse, pauseMs: number): void {
  const watched = watchedOf.get(res.req.socket)
  if (!watched) return
  watched.pauseMs = pauseMs
  onceOver(res, () => (watched.pauseMs = undefined))
}

/**
 * Calls the listener once when the answer was sent or its connection has ended. Returns a function that removes it.
 * An answer that is queued behind another on its connection gets no event for that end, so the connection is
 * observed too.
 */
export function onceOver(res: ServerResponse, listener: () => void): () => void {
  const { socket } = res.req
  let called = false
  const off = () => {
    res.off('close', over)
    socket.off('close', over)
  }
  const over = () => {
    off()
    // The end of a connection is reported to its answers at the same moment: a listener that is removed only then is
    // still called.
    if (called) return
    called = true
    listener()
  }
  res.once('close', over)
  socket.once('close', over)
  return off
}

/** Sends the bytes in chunks, each when the previous one was sent. The chunks share the memory of the whole. */
export function inPieces(bytes: Uint8Array): Readable {
  let at = 0
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      if (at >= bytes.length) this.push(null)
      else this.push(bytes.subarray(at, (at += pieceBytes)))
    },
  })
}
