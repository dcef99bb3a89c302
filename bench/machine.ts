import { required } from '@atrium/contract/required'
import { statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import type { Pool } from 'pg'
import { wrkVersion } from './wrk.ts'

const tmpfsType = 0x01021994

/** What the figures depend on. */
export async function describeMachine(pool: Pool, folder: string) {
  const { rows } = await pool.query<{ version: string; fsync: string; commit: string }>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
  )
  const { version, fsync, commit } = required(rows[0], 'a select without a table answers one row')
  return {
    processors: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg()[0] ?? 0,
    node: process.version,
    postgres: version,
    wrk: wrkVersion(),
    fsync,
    synchronousCommit: commit,
    folder,
    inMemory: statfsSync(folder).type === tmpfsType,
  }
}

export type Machine = Awaited<ReturnType<typeof describeMachine>>

export function machineText(machine: Machine): string {
  const { processors, model, memoryGiB, loadAverage, node, postgres, wrk, fsync, synchronousCommit, folder, inMemory } = machine
  return [
    `nproc ${processors} (${model}), ${memoryGiB} GiB; wrk, the server and PostgreSQL share them. Load average before: ${loadAverage.toFixed(2)}`,
    `node ${node}, PostgreSQL ${postgres} (fsync ${fsync}, synchronous_commit ${synchronousCommit}), wrk ${wrk}`,
    `PostgreSQL's data in ${folder}${inMemory ? ': IN MEMORY, so its commits cost less than on a disk' : ''}`,
  ].join('\n')
}
