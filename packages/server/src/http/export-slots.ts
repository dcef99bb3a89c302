import type { FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { ReaderPace } from './reader-pace.ts'
import type { SendTerms } from './send-stream.ts'

/** The reader of an export that takes no piece of 64 KiB in this time is disconnected. */
const pauseMs = 120_000

interface OpenExport {
  tenantId: string
  pace: ReaderPace
  cut: () => void
}

/**
 * Limits the exports that are open in this process at once, because each has a page in memory. An export lasts as long as
 * its reader wants, so while all slots are taken, the slowest reader loses its slot to a tenant that has none. Fast readers
 * keep theirs, so the second half of the slots is only for tenants that have none: a few tenants do not hold them all.
 */
export class ExportSlots {
  readonly #limits: { slots: number; slotsPerTenant: number }
  readonly #times: { pauseMs: number; windowMs?: number }
  readonly #open = new Set<OpenExport>()

  constructor(limits: { slots: number; slotsPerTenant: number }, times: { pauseMs: number; windowMs?: number } = { pauseMs }) {
    this.#limits = limits
    this.#times = times
  }

  /** Runs `send`, which sends the export by the terms. Rejects at once if no slot is free: an export takes long. */
  async run(tenantId: string, req: FastifyRequest, send: (terms: SendTerms) => Promise<void>): Promise<void> {
    this.#makeRoom(tenantId)
    const cut = () => {
      // With a reset, the system also discards what the reader has not fetched yet.
      req.raw.socket.resetAndDestroy()
      req.log.info({ request_id: req.id }, 'an export was cut: its reader is slow, and another tenant needs its slot')
    }
    const one = { tenantId, pace: new ReaderPace(this.#times.windowMs), cut }
    this.#open.add(one)
    try {
      await send({ pauseMs: this.#times.pauseMs, pace: one.pace })
    } finally {
      this.#open.delete(one)
    }
  }

  #makeRoom(tenantId: string): void {
    const { slots, slotsPerTenant } = this.#limits
    const own = [...this.#open].filter((one) => one.tenantId === tenantId).length
    const slotsForIt = own === 0 ? slots : slots / 2
    if (own < slotsPerTenant && this.#open.size < slotsForIt) return
    const slowest = own === 0 ? this.#slowest() : undefined
    if (!slowest)
      throw new ApiError('rate_limited', {
        message: 'Too many exports are open. Try again when one has ended.',
        retryAfterSeconds: 10,
      })
    // Its slot is free from now on, although a page that is being read stays in memory for a moment.
    this.#open.delete(slowest)
    slowest.cut()
  }

  #slowest(): OpenExport | undefined {
    const paces = [...this.#open].map((one) => ({ one, pace: one.pace.slowBytesPerSecond() }))
    const [slowest] = paces.filter(({ pace }) => pace < Infinity).toSorted((a, b) => a.pace - b.pace)
    return slowest?.one
  }
}
