import assert from 'node:assert/strict'
import type { Answer, CallOptions } from './call-api.ts'
import type { ShelfWorld } from './shelf-world.ts'

/** What a caller can do after a lost response. docs/decisions/0017-lost-answers.md explains each. */
type WayBack = 'replay' | 'read again' | 'ask for another' | 'rotate' | 'recovery key'

/** A request whose answer is lost, and what its caller then does. */
export interface LostAnswer {
  /** The operation. */
  id: string
  name?: string
  way: WayBack
  prepare: (world: ShelfWorld) => Promise<{
    route: string
    options: CallOptions
    /** Gets the contents of the lost answer, and checks that they work. */
    recover: () => Promise<void>
  }>
}

export function assertGood({ status, text }: Answer): void {
  assert.ok(status < 300, `${status} ${text}`)
}
