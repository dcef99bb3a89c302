import type { AccountRef } from '#features/credits/ledger/account.ts'
import type { Painted } from '../store.ts'

export interface PaintInput {
  prompt: string
  width: number
  height: number
  seed: number
  /** As requested; absent: the first provider with a key, else local. */
  provider?: string
  model?: string
}

export interface ProduceInput {
  title?: string
  /** Ids, in the requested order. */
  items?: string[]
  artifacts?: string[]
  template?: string
}

export interface JobKey {
  tenantId: string
  collectionId: string
  artifactId: string
}

interface JobBase extends JobKey {
  /** Held on the payer's account; 0: nothing. */
  priceCredits: number
  payer: AccountRef | null
  /** The job used one of the month's free paints, which is returned if the job fails. */
  fromAllowance: boolean
  /** How often the job was claimed. */
  attempts: number
  deadline: string
  createdAt: string
}

/** The generation of one artifact. */
export type Job = JobBase & ({ kind: 'paint'; input: PaintInput } | { kind: 'card' | 'clip'; input: ProduceInput })

export type ProduceJob = Extract<Job, { kind: 'card' | 'clip' }>

/** The bytes that a job generated. */
export interface Generated {
  bytes: Buffer
  mime: string
  width: number
  height: number
  alt: string | null
  painted: Painted | null
}

/** Why an artifact could not be generated. The owner sees code and message. */
export class GenerationError extends Error {
  override readonly name = 'GenerationError'
  readonly code: string
  /** Whether another attempt may succeed. */
  readonly transient: boolean

  constructor(code: string, message: string, { transient = false } = {}) {
    super(message)
    this.code = code
    this.transient = transient
  }
}
