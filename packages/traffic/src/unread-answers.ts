import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

interface UnreadAnswersOptions {
  /** Of all answers that were made whole and not read yet. */
  maxBytes?: number
  /** Whoever takes less than a piece in this time is cut off. */
  idleMs?: number
  checkEveryMs?: number
}

interface Watched {
  taken: number
  sinceMs: number
}

/** Longer than usual, where pauses are normal. */
const pauseLimits = new WeakMap<Socket, number>()

/** Answers are sent in pieces of this size: what has gone out can be seen only when a whole piece has. */
export const pieceBytes = 64 * 1024

/**
 * Bounds what is in memory for those who do not read their answers. Answers that are made whole count against a budget until they have gone out, and
 * a connection whose other end takes nothing is ended.
 */
export class UnreadAnswers {
  readonly #maxBytes: number
  readonly #idleMs: number
  readonly #checkEveryMs: number
  readonly #sockets = new Map<Socket, Watched>()
  #bytes = 0

  constructor({ maxBytes = 32 * 1024 * 1024, idleMs = 30_000, checkEveryMs = 2_000 }: UnreadAnswersOptions = {}) {
    this.#maxBytes = maxBytes
    this.#idleMs = idleMs
    this.#checkEveryMs = checkEveryMs
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Ends the connections of this server whose other end takes nothing of what is being sent. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#sockets.set(socket, { taken: 0, sinceMs: 0 })
      socket.once('close', () => this.#sockets.delete(socket))
    })
    const timer = setInterval(() => this.#check(Date.now()), this.#checkEveryMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  /** Whether an answer of that size could be sent now. One that is larger than the budget goes out when nothing else waits. */
  hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#maxBytes
  }

  /** Counts an answer until it has gone out. false: there are too many, and it is not to be sent. */
  take(res: ServerResponse, bytes: number): boolean {
    if (!this.hasRoom(bytes)) return false
    if (res.destroyed || res.req.socket.destroyed) return true
    this.#bytes += bytes
    onceOver(res, () => {
      this.#bytes -= bytes
    })
    return true
  }

  #check(nowMs: number): void {
    for (const [socket, watched] of this.#sockets) {
      const waiting = socket.writableLength
      const taken = socket.bytesWritten - waiting
      if (waiting === 0 || taken !== watched.taken || watched.sinceMs === 0) {
        watched.taken = taken
        watched.sinceMs = nowMs
      } else if (nowMs - watched.sinceMs >= (pauseLimits.get(socket) ?? this.#idleMs)) {
        // Not destroy: what the kernel holds for the reader is freed with a reset.
        socket.resetAndDestroy()
      }
    }
  }
}

/** Lets the reader of this answer pause for longer than usual, as players of media do. */
export function allowPause(res: ServerResponse, pauseMs: number): void {
  const { socket } = res.req
  pauseLimits.set(socket, pauseMs)
  onceOver(res, () => pauseLimits.delete(socket))
}

/**
 * Calls the listener once when the answer has gone out or its connection has ended; gives what takes it back. An answer that waits behind another one on
 * its connection is never told that this ended: the connection is asked, too.
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
    // The end of a connection is told to its answers while it is told here: a listener that is taken off by then is called all the same.
    if (called) return
    called = true
    listener()
  }
  res.once('close', over)
  socket.once('close', over)
  return off
}

/** The bytes in pieces, each when the one before has gone out; they share the memory of the whole. */
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
