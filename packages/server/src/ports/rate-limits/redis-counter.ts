import { toError } from '#errors/caught.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '@atrium/traffic/backoff'
import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import { openRedis, type RedisConnection, within } from './open-redis.ts'
import { countScript, readCount } from './redis-script.ts'
import type { SharedCounter } from './shared-counter.ts'

const connectMs = 2_000
/**
 * A new connection is used once it has answered so many times in a row, each within the time that a request waits.
 */
const probes = 3
const probeMs = 100

/** Different subjects, so that in a cluster they are on different nodes. */
const probeChecks: RateCheck[][] = Array.from({ length: 8 }, (_, i) => [
  { key: `probe${i}`, policy: { name: 'probe', perSecond: 1_000_000, burst: 1_000_000 } },
])

export interface RedisCounterOptions {
  /** Of a Redis, or of some nodes of a Redis Cluster. */
  urls: string[]
  /** Called once when Redis becomes unavailable and once when it is available again. */
  onState: (state: 'reachable' | 'unreachable', error?: Error) => void
}

/**
 * Counts in Redis, over one connection at a time, or in a Redis Cluster over one connection to each node. If one
 * breaks, or answers late or wrongly too often, all are closed with the commands that wait on them, and others are
 * opened and tested, with growing pauses between attempts.
 */
export class RedisCounter implements SharedCounter {
  readonly #options: RedisCounterOptions
  readonly #backoff = new Backoff({ firstMs: 200, maxMs: 5_000, healthyMs: 10_000 })
  readonly #closed = new AbortController()
  readonly #firstTry = Promise.withResolvers<void>()
  /** Absent while no connection works. */
  #client: RedisConnection | undefined
  #lose: (error: Error) => void = () => undefined
  /** The addresses to try, the next one first. A cluster adds its nodes. */
  #urls: string[]
  #told: 'reachable' | 'unreachable' | undefined

  constructor(options: RedisCounterOptions) {
    this.#options = options
    this.#urls = options.urls
    void this.#run()
  }

  /** Resolves when the first connection works, or the first attempt has failed. */
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
      const [url = '', ...others] = this.#urls
      this.#urls = [...others, url]
      const lost = Promise.withResolvers<never>()
      // A loss while nobody waits for it is handled by the next wait.
      lost.promise.catch(() => undefined)
      this.#lose = (error) => {
        // At once and not when the promise is handled, so that no further request uses the connection.
        this.#client = undefined
        lost.reject(error)
      }
      let client: RedisConnection | undefined
      try {
        client = await openRedis(url, connectMs, (error) => this.#lose(error))
        await this.#serve(client, lost.promise)
      } catch (error) {
        if (!signal.aborted) this.#tell('unreachable', toError(error))
      } finally {
        this.#client = undefined
        this.#firstTry.resolve()
        client?.destroy()
      }
      await delay(this.#backoff.failed(), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Rejects when the connection is lost. */
  async #serve(client: RedisConnection, lost: Promise<never>): Promise<never> {
    for (let probe = 0; probe < probes; probe++) {
      const subjects = probeChecks.slice(0, client.nodeUrls.length === 0 ? 1 : undefined)
      const counted = Promise.all(subjects.map((checks) => count(client, checks)))
      await Promise.race([within(counted, probeMs), lost])
    }
    if (this.#closed.signal.aborted) throw new Error('closed')
    this.#urls = [...new Set([...this.#options.urls, ...client.nodeUrls])]
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

/**
 * The keys of a call share a hash tag, the first subject, because a script runs on one node of a cluster. A key of a
 * tenant is always counted together with that tenant, which is first.
 */
async function count(client: RedisConnection, checks: RateCheck[]): Promise<RateDecision> {
  const reply = await client.eval(countScript, {
    keys: checks.map(({ key }) => redisKey(checks[0]?.key, key)),
    arguments: checks.flatMap(({ policy }) => [String(policy.perSecond), String(policy.burst)]),
  })
  return readCount(reply, checks)
}

function redisKey(subject: string | undefined, key: string): string {
  return `atrium:rate:{${subject}}${key === subject ? '' : `:${key}`}`
}
