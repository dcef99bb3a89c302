import { toError } from '#errors/caught.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { Backoff } from '@atrium/traffic/backoff'
import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import { countScript, readCount } from './redis-script.ts'
import type { SharedCounter } from './shared-counter.ts'

const connectMs = 2_000
/** A connection is used once it has answered so many times in a row, each within the time that a request waits. */
const probes = 3
const probeMs = 100
/**
 * Commands without an answer. With the breaker there are never as many; a fault in it must not cost memory without
 * end.
 */
const maxCommands = 4_000

const probeChecks: RateCheck[] = [{ key: 'probe', policy: { name: 'probe', perSecond: 1_000_000, burst: 1_000_000 } }]

export interface RedisCounterOptions {
  url: string
  /** Told once when Redis goes and once when it is back. */
  onState: (state: 'reachable' | 'unreachable', error?: Error) => void
}

type Client = ReturnType<typeof openClient>

/**
 * Counts in Redis. One connection at a time: when it breaks, or what comes over it is late or wrong too often, it is
 * thrown away with all that waits on it, and another one is made and tried out, with growing waits between.
 */
export class RedisCounter implements SharedCounter {
  readonly #options: RedisCounterOptions
  readonly #backoff = new Backoff({ firstMs: 200, maxMs: 5_000, healthyMs: 10_000 })
  readonly #closed = new AbortController()
  readonly #firstTry = Promise.withResolvers<void>()
  /** Absent while there is none that works. */
  #client: Client | undefined
  #lose: (error: Error) => void = () => undefined
  #told: 'reachable' | 'unreachable' | undefined

  constructor(options: RedisCounterOptions) {
    this.#options = options
    void this.#run()
  }

  /** When the first connection works, or the first attempt has failed. */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise
  }

  get usable(): boolean {
    return this.#client !== undefined
  }

  async take(checks: RateCheck[]): Promise<RateDecision> {
    if (!this.#client) throw new Error('Redis cannot be reached')
    return count(this.#client, checks)
  }

  trip(error: Error): void {
    this.#lose(error)
  }

  close(): void {
    this.#closed.abort()
    this.#lose(new Error('closed'))
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      const client = openClient(this.#options.url)
      try {
        await this.#serve(client)
      } catch (error) {
        if (!signal.aborted) this.#tell('unreachable', toError(error))
      } finally {
        this.#client = undefined
        this.#firstTry.resolve()
        discard(client)
      }
      await delay(this.#backoff.failed(), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Rejects when it is lost. */
  async #serve(client: Client): Promise<never> {
    const lost = new Promise<never>((_, reject) => {
      this.#lose = (error) => {
        // At once, not when this promise has been heard: no further request may wait on it.
        this.#client = undefined
        reject(error)
      }
      client.on('error', this.#lose)
      client.on('end', () => this.#lose(new Error('the connection was closed')))
    })
    await Promise.race([within(client.connect(), connectMs), lost])
    for (let probe = 0; probe < probes; probe++) await Promise.race([within(count(client, probeChecks), probeMs), lost])
    if (this.#closed.signal.aborted) throw new Error('closed')
    this.#client = client
    this.#backoff.succeeded()
    this.#firstTry.resolve()
    this.#tell('reachable')
    return lost
  }

  #tell(state: 'reachable' | 'unreachable', error?: Error): void {
    if (state !== this.#told) this.#options.onState(state, error)
    this.#told = state
  }
}

function openClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxCommands,
    // Connections are made anew by ourselves, one at a time.
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  })
}

async function count(client: Client, checks: RateCheck[]): Promise<RateDecision> {
  const reply: unknown = await client.eval(countScript, {
    keys: checks.map((check) => `{atrium}:rate:${check.key}`),
    arguments: checks.flatMap(({ policy }) => [String(policy.perSecond), String(policy.burst)]),
  })
  return readCount(reply, checks)
}

/** With everything that waits for an answer on it. */
function discard(client: Client): void {
  try {
    client.destroy()
  } catch {
    // Not open any more.
  }
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${ms} ms`)), ms)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}
