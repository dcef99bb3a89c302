import type { Locked } from './batcher.ts'

export interface BatcherOptions<In, Out> {
  /**
   * Runs the whole batch. Returns one outcome per input, in order. An Error as an outcome rejects only that input.
   */
  run: (inputs: In[]) => Promise<(Out | Error | Locked)[]>
  maxSize: number
  /**
   * How many batches may run at once. Further inputs wait and enlarge the next batch, so batches become more
   * efficient under load.
   */
  concurrency: number
  /** Whether an error concerns one input and not the batch: then splitting the batch finds the input. Absent: never. */
  isAboutOneInput?: (error: unknown) => boolean
  /**
   * The rows that an input locks. Inputs with a common key are never in two batches at once, and keep their order.
   * So a lock that a batch finds taken is never held by another batch of this process. Absent: inputs lock nothing.
   */
  keysOf?: (input: In) => readonly string[]
  /** The outcome of an input that does not wait if its row is locked; undefined: it waits. Absent: all inputs wait. */
  ifLocked?: (input: In) => Out | undefined
  /** Inputs of different lanes never share a batch, such as rows of different shards. Absent: one lane for all. */
  laneOf?: (input: In) => number
  /** The memory that an input takes; absent: little. */
  bytesOf?: (input: In) => number
  /** How many inputs may wait; further ones are rejected at once. */
  maxWaiting?: number
  /** How long an input may wait for its batch. */
  waitMs?: number
}

/** An input on its way to an outcome. */
export interface Waiting<In, Out> {
  input: In
  keys: readonly string[]
  lane: number
  bytes: number
  /** The input is rejected if it waits longer, or if its row stays locked for longer. */
  untilMs: number
  lockedUntilMs: number
  /** Its row was found locked. */
  locked: boolean
  /** It made a batch wait for a lock, so it is tried alone from now on. */
  alone: boolean
  /** The blocked key whose first input it is. */
  probes: string | undefined
  resolve: (output: Out) => void
  reject: (error: unknown) => void
}

/** Inputs whose row another transaction has locked, in order. Only the first one is tried, with growing pauses. */
export interface Blocked<In, Out> {
  inputs: Waiting<In, Out>[]
  tries: number
}
