import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { clearOrphan } from '#db/embedded/running-postmaster.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#db/embedded-postgres.ts'

/** An embedded PostgreSQL in a temporary folder, without fsync. stop() removes everything. */
export async function startThrowawayPostgres(settings: Record<string, string | number> = {}): Promise<EmbeddedPostgres> {
  const base = temporaryFolder()
  await sweepLeftovers(base)
  const dataDir = mkdtempSync(path.join(base, `atrium-test-${process.pid}-`))
  // PostgreSQL's own user must pass through.
  chmodSync(dataDir, 0o711)
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  try {
    // A vacuum of the template database would delay its cloning.
    const server = await startEmbeddedPostgres({
      dataDir,
      say: () => {},
      fsync: false,
      settings: { autovacuum: 'off', ...settings },
    })
    return {
      ...server,
      async stop() {
        await server.stop()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** In memory if there is enough of it: cloning the template takes 6 ms there and 200 ms on disk, measured on ext4. */
function temporaryFolder(): string {
  const memory = '/dev/shm'
  if (existsSync(memory)) {
    const { bavail, bsize } = statfsSync(memory)
    // Containers often have 64 MB.
    if (bavail * bsize > 2 ** 31) return memory
  }
  return realpathSync(tmpdir())
}

/** A killed test run leaves its PostgreSQL and folder behind, and nothing else would remove them. */
async function sweepLeftovers(base: string): Promise<void> {
  for (const name of readdirSync(base)) {
    const pid = /^atrium-test-(\d+)-/.exec(name)?.[1]
    if (!pid || isAlive(Number(pid))) continue
    const dataDir = path.join(base, name)
    await clearOrphan(path.join(dataDir, 'postgres'), () => {})
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process is alive too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
