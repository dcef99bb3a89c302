import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { readRelease } from '#config/release.ts'
import type { Context } from '#features/context.ts'
import { deleteProcess, deleteSilentProcesses, saveBeat } from '#features/installation/process-store.ts'

const intervalMs = 10_000
const deletionIntervalMs = 10 * 60_000

/**
 * Records every ten seconds that this process runs, for `GET /operator/processes`, and now and then deletes the records of
 * processes that were killed. Returns a function that removes the record. A failure is not logged: the next beat writes the
 * row again.
 */
export function startBeat(
  { db, revocationProbe, vault }: Pick<Context, 'db' | 'revocationProbe' | 'vault'>,
  role: 'api' | 'worker',
): () => Promise<void> {
  const id = randomUUID()
  const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString()
  let stopped = false
  let last: Promise<void> = Promise.resolve()
  const beat = async () => {
    const { version, commit } = await readRelease()
    if (stopped) return
    await saveBeat(db, {
      id,
      role,
      host: hostname(),
      pid: process.pid,
      version: commit === undefined ? version : `${version} (${commit.slice(0, 12)})`,
      node: process.versions.node,
      memoryBytes: process.memoryUsage.rss(),
      startedAt,
      slowestRevocationMs: revocationProbe.worstMs(),
      sealingKey: vault.keyIds[0].toString('hex'),
    })
  }
  const quietly = (work: () => Promise<void>) => (last = last.then(work).catch(() => undefined))
  const deletion = () => deleteSilentProcesses(db)
  void quietly(beat)
  void quietly(deletion)
  const timers = [
    setInterval(() => void quietly(beat), intervalMs).unref(),
    setInterval(() => void quietly(deletion), deletionIntervalMs).unref(),
  ]
  return async () => {
    stopped = true
    for (const timer of timers) clearInterval(timer)
    await last
    await deleteProcess(db, id).catch(() => undefined)
  }
}
