import type { AddressInfo } from 'node:net'
import { formatVerifier, type Verifier } from '@atrium/log/note'
import { witnessVerifier } from '@atrium/log/signing'
import { openDatabase } from '@atrium/server/db/database'
import { listLogVerifiers } from '@atrium/server/features/transparency-log/log-keys'
import { logOrigin } from '@atrium/server/features/transparency-log/publish'
import { createWitnessServer } from '../../packages/cli/src/log/witness-server.ts'
import { openWitnessKey, WitnessState } from '../../packages/cli/src/log/witness-state.ts'

export interface LogWitness {
  /** The policy of the log that has this witness. Without it, as long as the log has no key that the witness could know. */
  policy(): Promise<string>
  /** The last checkpoint that was cosigned. */
  findCheckpoint(): string | undefined
  readonly refusals: string[]
  stop(): Promise<void>
}

interface Options {
  databaseUrl: string
  folder: string
  publicUrl: string
}

/** A witness of the log in this database, which learns the log's key when there is one. */
export async function startLogWitness({ databaseUrl, folder, publicUrl }: Options): Promise<LogWitness> {
  const db = openDatabase({ url: databaseUrl, maxConnections: 1, onConnectionError: () => undefined })
  const origin = logOrigin(publicUrl)
  const name = 'witness.example.org/w1'
  const seed = await openWitnessKey(folder)
  const state = await WitnessState.open(folder)
  const refusals: string[] = []
  let server: ReturnType<typeof createWitnessServer> | undefined
  async function start(logKeys: Verifier[]): Promise<ReturnType<typeof createWitnessServer>> {
    const started = createWitnessServer({ name, seed, state, logKeys, onRefusal: (line) => refusals.push(line) })
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
    return started
  }
  return {
    refusals,
    findCheckpoint: () => state.findCheckpoint(origin),
    async policy() {
      const logKeys = await listLogVerifiers(db, origin)
      if (logKeys.length === 0) return 'quorum none\n'
      server ??= await start(logKeys)
      const { port } = server.address() as AddressInfo
      return `witness w1 ${formatVerifier(witnessVerifier(name, seed))} http://127.0.0.1:${port}\nquorum w1\n`
    },
    async stop() {
      server?.close()
      server?.closeAllConnections()
      await db.close()
    },
  }
}
