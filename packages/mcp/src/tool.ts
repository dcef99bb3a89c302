import type { JsonObject } from '@atrium/contract/strict-json'
import type { TObject } from 'typebox'
import type { Connection } from './connection.ts'

export interface Tool {
  name: string
  title: string
  description: string
  /**
   * `destructive`: removes something or spends credits. `open`: returns text written by others, or acts outside of
   * the installation.
   */
  hints: { writes: boolean; destructive?: true; open: boolean }
  /** secretKey: requires a secret key. stdio: requires a coupon or the secrets that the process keeps. */
  needs: { secretKey?: true; stdio?: true }
  input: TObject
  output: JsonObject
  run: (args: JsonObject, connection: Connection, signal: AbortSignal) => Promise<JsonObject>
}

/** A refusal with a remedy that the model can pass on. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
