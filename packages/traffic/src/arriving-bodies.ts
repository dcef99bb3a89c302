import type { IncomingMessage } from 'node:http'

interface ArrivingBodiesOptions {
  /** The size of the largest body. */
  bodyBytes: number
  tooLarge: () => Error
  /** For a body that gives way to others. */
  tooMany: () => Error
  /** For a body whose sender has left before its end. */
  cutOff: () => Error
  /** The memory for all bodies of which only a part has arrived. */
  maxBytes?: number
}

interface Sender {
  bytes: number
  /** Each refuses a body. The body that grew last is last. */
  bodies: Set<() => void>
}

const nothing = Buffer.alloc(0)
/** Smaller chunks are joined in pieces of this size. A smaller buffer would share its memory with others. */
const joinedBytes = 4 * 1024

/**
 * Reads bodies and limits the memory of those that have arrived in part. Above the limit, the sender that holds most
 * loses the body that has not grown for longest. So nobody is refused a body while another sender holds more.
 */
export class ArrivingBodies {
  readonly #options: ArrivingBodiesOptions
  readonly #senders = new Map<string, Sender>()
  #free: number

  constructor(options: ArrivingBodiesOptions) {
    this.#options = options
    this.#free = options.maxBytes ?? 64 * 1024 * 1024
  }

  /**
   * Small chunks are joined, because each takes some 300 bytes, also one of a single byte. A body that arrives in
   * one chunk is not counted, and `senderOf` is not called.
   */
  read(req: IncomingMessage, senderOf: () => string, done: (error: Error | null, body?: Buffer) => void): void {
    const { bodyBytes, tooLarge, tooMany, cutOff } = this.#options
    const length = Number(req.headers['content-length'])
    if (length > bodyBytes) return done(tooLarge())
    const pieces: Buffer[] = []
    let size = 0
    let held = 0
    let sender: string | undefined
    let joined = nothing
    let used = 0
    const end = (error: Error | null) => {
      req.off('data', take).off('end', whole).off('error', cut)
      if (sender !== undefined) this.#hold(sender, -held, refuse)
      done(error, error ? undefined : Buffer.concat(pieces, size))
    }
    const whole = () => end(null)
    const cut = () => end(cutOff())
    const refuse = () => end(tooMany())
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > bodyBytes) return end(tooLarge())
      if (size === length && pieces.length === 0) return void pieces.push(chunk)
      let more = chunk.length
      if (more >= joinedBytes) {
        pieces.push(chunk)
        joined = nothing
      } else {
        const fits = used + chunk.length <= joined.length
        more = fits ? 0 : joinedBytes
        if (!fits) {
          used = 0
          joined = Buffer.allocUnsafe(joinedBytes)
          pieces.push(joined)
        }
        used += chunk.copy(joined, used)
        pieces[pieces.length - 1] = joined.subarray(0, used)
      }
      held += more
      this.#hold((sender ??= senderOf()), more, refuse)
    }
    req.on('data', take).on('end', whole).on('error', cut)
  }

  #hold(name: string, bytes: number, refuse: () => void): void {
    const sender = this.#senders.get(name) ?? { bytes: 0, bodies: new Set() }
    sender.bytes += bytes
    this.#free -= bytes
    sender.bodies.delete(refuse)
    if (bytes >= 0) sender.bodies.add(refuse)
    if (sender.bodies.size === 0) this.#senders.delete(name)
    else this.#senders.set(name, sender)
    while (bytes > 0 && this.#free < 0) {
      let most = sender
      // Among equals, the one that was there first: otherwise, many small bodies would keep every new one out.
      for (const other of this.#senders.values())
        if (other !== sender && (most === sender ? other.bytes >= most.bytes : other.bytes > most.bytes)) most = other
      const [refuseOldest] = most.bodies
      refuseOldest?.()
    }
  }
}
