import type { AccountRef } from '#features/credits/ledger/account.ts'
import type { Painted } from '../store.ts'

export interface PaintInput {
  prompt: string
  width: number
  height: number
  seed: number
  /** As asked for; absent: the first one with a key, else local. */
  provider?: string
  model?: string
}

export interface ProduceInput {
  title?: string
  /** Ids, in the order asked for. */
  items?: string[]
  artifacts?: string[]
  template?: string
}

interface JobBase {
  tenantId: string
  collectionId: string
  artifactId: string
  /** Held for it; 0: nothing. */
  priceCredits: number
  payer: AccountRef | null
  /** It used up one of the month's free paints, which comes back if it fails. */
  fromAllowance: boolean
  tries: number
  deadline: string
  createdAt: string
}

/** An artifact to be made. */
export type Job = JobBase & ({ work: 'paint'; input: PaintInput } | { work: 'card' | 'clip'; input: ProduceInput })

export type ProduceJob = Extract<Job, { work: 'card' | 'clip' }>

/** What came of it. */
export interface Made {
  bytes: Buffer
  mime: string
  width: number
  height: number
  alt: string | null
  painted: Painted | null
}

/** Why it could not be made; told to the owner. */
export class MakingFailed extends Error {
  readonly code: string
  /** Whether a further try may succeed. */
  readonly passing: boolean

  constructor(code: string, message: string, { passing = false } = {}) {
    super(message)
    this.code = code
    this.passing = passing
  }
}
