import type { ServerResponse } from 'node:http'
import { onceOver } from '@atrium/traffic/unread-answers'
import type { Channel, ChannelReader } from './channel.ts'
import { frameOf } from './page.ts'
import type { StreamGuard } from './stream-guard.ts'

interface StreamConnectionOptions {
  res: ServerResponse
  channel: Channel
  guard: StreamGuard
  /** Sends the events after this sequence. */
  position: number
  onSent: (bytes: number) => void
  onError: (error: unknown) => void
  onClosed: () => void
}

/** How long a client should wait before it reconnects, if it does not decide by itself. */
const retryMs = 2_000

/**
 * One open stream. It asks its channel for the next page when the last one was sent, so a slow reader has at most
 * one page in memory. A client that does not read is disconnected (see http/bound-unread.ts), and can continue from
 * its cursor.
 */
export class StreamConnection implements ChannelReader {
  readonly guard: StreamGuard
  readonly #res: ServerResponse
  readonly #channel: Channel
  readonly #options: StreamConnectionOptions
  #position: number
  #isSending = false
  #isOver = false
  #sentBytes = 0

  constructor(options: StreamConnectionOptions) {
    this.guard = options.guard
    this.#options = options
    this.#res = options.res
    this.#channel = options.channel
    this.#position = options.position
    this.#channel.readers.add(this)
    onceOver(this.#res, () => this.#close())
  }

  /** The frames that wait to be sent. */
  get unsentBytes(): number {
    return this.#res.writableLength
  }

  /** `first`: the message of a stream that does not begin at the cursor of its reader. It contains a new cursor. */
  begin(first: 'ready' | 'reset' | undefined): void {
    const hint = `retry: ${retryMs}\n\n`
    this.#write(Buffer.from(first ? hint + this.#controlFrame(first) : hint))
    this.wake()
  }

  wake(): void {
    if (this.#isSending || this.#isOver) return
    this.#isSending = true
    this.#send().then(
      () => {
        this.#isSending = false
      },
      (error: unknown) => {
        this.#options.onError(error)
        // The client reconnects with its cursor.
        this.#res.destroy()
      },
    )
  }

  beat(frame: Buffer, sequence: number): void {
    if (this.#isOver || this.#isSending) return
    this.#options.onSent(this.#sentBytes)
    this.#sentBytes = 0
    if (!this.#channel.isRead(this.#position)) return this.wake()
    this.#position = sequence
    this.#write(frame)
  }

  reset(sequence: number): void {
    if (this.#isOver) return
    this.#position = sequence
    this.#write(Buffer.from(this.#controlFrame('reset')))
    this.end()
  }

  end(): void {
    if (this.#isOver) return
    if (this.#res.writableNeedDrain) this.#res.destroy()
    else this.#res.end()
    this.#close()
  }

  async #send(): Promise<void> {
    while (!this.#isOver) {
      if (this.#res.writableNeedDrain && !(await this.#drained())) return
      if (this.#channel.isRead(this.#position)) {
        if (this.#channel.ended) this.end()
        return
      }
      const page = await this.#channel.pageAfter(this.#position)
      if (this.#isOver) return
      this.#position = page.upTo
      if (page.expired) this.#write(Buffer.from(this.#controlFrame('reset')))
      else if (page.bytes.length > 0) this.#write(page.bytes)
    }
  }

  /** false: the connection has ended. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const res = this.#res
      const onDrain = () => {
        off()
        resolve(true)
      }
      const off = onceOver(res, () => {
        res.off('drain', onDrain)
        resolve(false)
      })
      res.once('drain', onDrain)
    })
  }

  #controlFrame(event: 'ready' | 'reset'): string {
    return frameOf(this.#channel.cursor.seal(this.#position), event, {})
  }

  #write(bytes: Buffer): void {
    this.#sentBytes += bytes.length
    this.#res.write(bytes)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#channel.readers.delete(this)
    this.#options.onSent(this.#sentBytes)
    this.#options.onClosed()
  }
}
