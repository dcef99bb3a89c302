import { Backoff } from '@atrium/traffic/backoff'
import { BoundedCounts } from '@atrium/traffic/bounded-counts'
import type { RatePolicy } from '@atrium/contract/request-limits'
import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import { isLeaseAnswer, type LeaseAnswer, type LeaseAsk } from './primary-messages.ts'
import type { SharedCounter } from './shared-counter.ts'

/** Requests that are not used for this long are returned, so that other processes can use them. */
const leaseMs = 100
/** A worker never reserves more than this part of a burst. */
const maxShare = 1 / 16

interface Lease {
  check: RateCheck
  /** Requests that may pass without asking. */
  held: number
  grantedAt: number
  /** What the primary process has left. */
  remaining: number
  resetMs: number
  /** Refused until this time. */
  refusedUntil: number
  /** How many requests are reserved at a time. Grows while they are used up at once. */
  ahead: number
}

interface Waiting {
  checks: RateCheck[]
  resolve: (decision: RateDecision | Promise<RateDecision>) => void
}

interface Channel {
  send(message: LeaseAsk): void
  /** Returns a function that removes the handler. */
  onAnswer(handler: (message: unknown) => void): () => void
}

/**
 * Counts in the primary process, which started this worker and its siblings, so that all hold the limits together,
 * exactly: each request that passes was counted there. A rarely used key costs a message for each request. A busy
 * key costs one for many: some requests are reserved ahead, and those unused within a tenth of a second are
 * returned. The questions of one turn of the event loop share a message.
 */
export class PrimaryCounter implements SharedCounter {
  readonly #channel: Channel
  readonly #now: () => number
  readonly #leases = new BoundedCounts<Lease>(50_000)
  readonly #held = new Set<Lease>()
  readonly #asked = new Map<number, { keys: Lease[]; waiting: Waiting[] }>()
  readonly #backoff = new Backoff({ firstMs: 200, maxMs: 5_000, healthyMs: 10_000 })
  readonly #stopListening: () => void
  #wanted = new Map<Lease, number>()
  #waiting: Waiting[] = []
  #unused: ReturnType<typeof entry>[] = []
  #scheduled = false
  #lastId = 0
  #usable = true
  #timer: NodeJS.Timeout | undefined
  #probe: NodeJS.Timeout | undefined

  constructor(channel: Channel = parentChannel, now = () => performance.now()) {
    this.#channel = channel
    this.#now = now
    this.#stopListening = channel.onAnswer((message) => isLeaseAnswer(message) && this.#take(message.rateAnswer))
  }

  get usable(): boolean {
    return this.#usable
  }

  take(checks: RateCheck[]): RateDecision | Promise<RateDecision> {
    const leases = checks.map((check) => this.#leaseOf(check))
    const decision = this.#decide(leases)
    if (decision) return decision
    for (const lease of leases) if (lease.held === 0) this.#wanted.set(lease, (this.#wanted.get(lease) ?? 0) + 1)
    this.#schedule()
    return new Promise((resolve) => this.#waiting.push({ checks, resolve }))
  }

  trip(): void {
    this.#usable = false
    this.#asked.clear()
    this.#waiting = []
    this.#wanted.clear()
    this.#askAgain()
  }

  close(): void {
    this.#stopListening()
    clearInterval(this.#timer)
    clearTimeout(this.#probe)
  }

  /** Sends a single message. Its answer marks the counter as usable again. */
  #askAgain(): void {
    this.#probe = setTimeout(() => {
      this.#send()
      this.#askAgain()
    }, this.#backoff.failed()).unref()
  }

  #leaseOf(check: RateCheck): Lease {
    const found = this.#leases.get(check.key)
    if (found) {
      if (!isSameRate(found.check.policy, check.policy)) this.#changePolicy(found, check)
      return found
    }
    const made = { check, held: 0, grantedAt: 0, remaining: 0, resetMs: 0, refusedUntil: 0, ahead: 0 }
    this.#leases.set(check.key, made)
    return made
  }

  /** Takes over another rate of the key, which an operator has set. Permits of the old rate are given back. */
  #changePolicy(lease: Lease, check: RateCheck): void {
    if (lease.held > 0) {
      this.#unused.push(entry(lease, lease.held))
      lease.held = 0
      this.#held.delete(lease)
      this.#schedule()
    }
    lease.check = check
    lease.refusedUntil = 0
    lease.ahead = 0
  }

  /** undefined: the primary process must be asked. */
  #decide(leases: Lease[]): RateDecision | undefined {
    const now = this.#now()
    let tightest: Lease | undefined
    let missing = false
    for (const lease of leases) {
      if (lease.held > 0) {
        if (!tightest || left(lease) < left(tightest)) tightest = lease
      } else if (lease.refusedUntil > now) return refusal(lease, now)
      else missing = true
    }
    if (missing || !tightest) return undefined
    for (const lease of leases) this.#use(lease)
    return { allowed: true, policy: tightest.check.policy, remaining: left(tightest), resetMs: tightest.resetMs }
  }

  #use(lease: Lease): void {
    if (--lease.held > 0) return
    this.#held.delete(lease)
    // Used up early: the next reservation is larger.
    if (this.#now() - lease.grantedAt < leaseMs) lease.ahead = Math.min(lease.ahead * 2 + 1, lease.check.policy.burst * maxShare)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#send()
    })
  }

  #send(): void {
    const keys = [...this.#wanted.keys()]
    const id = ++this.#lastId
    const wanted = [...this.#wanted].map(([lease, count]) => entry(lease, count + Math.floor(lease.ahead)))
    const unused = this.#unused
    this.#asked.set(id, { keys, waiting: this.#waiting })
    this.#wanted = new Map()
    this.#waiting = []
    this.#unused = []
    this.#channel.send({ rateAsk: { id, wanted, unused } })
  }

  #take({ id, grants }: LeaseAnswer['rateAnswer']): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (!this.#usable) {
      this.#usable = true
      clearTimeout(this.#probe)
      this.#backoff.succeeded()
    }
    const now = this.#now()
    asked?.keys.forEach((lease, i) => {
      const grant = grants[i]
      if (!grant) throw new Error(`the primary granted ${grants.length} of ${asked.keys.length} keys`)
      const { granted, remaining, resetMs } = grant
      lease.held += granted
      lease.grantedAt = now
      lease.remaining = remaining
      lease.resetMs = resetMs
      // At least a moment, so that the request that asked for it gets its answer.
      lease.refusedUntil = granted > 0 ? 0 : now + Math.max(1, resetMs)
      if (granted > 0) this.#hold(lease)
    })
    // A request for which the reservation did not suffice asks again: only the primary process refuses.
    for (const { checks, resolve } of asked?.waiting ?? []) resolve(this.take(checks))
  }

  #hold(lease: Lease): void {
    this.#held.add(lease)
    this.#timer ??= setInterval(() => this.#giveBack(), leaseMs).unref()
  }

  #giveBack(): void {
    const now = this.#now()
    for (const lease of this.#held) {
      if (now - lease.grantedAt < leaseMs) continue
      this.#unused.push(entry(lease, lease.held))
      lease.held = 0
      lease.ahead = Math.floor(lease.ahead / 2)
      this.#held.delete(lease)
    }
    if (this.#unused.length > 0) this.#schedule()
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function isSameRate(one: RatePolicy, other: RatePolicy): boolean {
  return one.perSecond === other.perSecond && one.burst === other.burst
}

function left({ held, remaining }: Lease): number {
  return held + remaining
}

function refusal({ check: { policy }, refusedUntil }: Lease, now: number): RateDecision {
  return { allowed: false, policy, remaining: 0, resetMs: refusedUntil - now }
}

function entry({ check: { key, policy } }: Lease, count: number) {
  return { key, perSecond: policy.perSecond, burst: policy.burst, count }
}

const parentChannel: Channel = {
  send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
  onAnswer: (handler) => {
    process.on('message', handler)
    return () => process.off('message', handler)
  },
}
