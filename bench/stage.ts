import { required } from '@atrium/contract/required'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'pg'
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded-postgres.ts'
import { Data } from './data.ts'
import { startServer, type Server, type ServerName } from './servers.ts'
import { writePlan } from './wrk.ts'
import { probe, type Plan } from './plan.ts'
import { settle } from './fill.ts'
import type { Target } from './targets.ts'

/** A target with everything that wrk needs to run. */
export interface Ready {
  target: Target
  origin: string
  plan: Plan
  planArgs: string[]
}

export interface Stage {
  folder: string
  pool: Pool
  servers: Map<ServerName, Server>
  ready: Ready[]
}

interface StageOptions {
  targets: Target[]
  nodeArgs?: (folder: string) => string[]
  signal: AbortSignal
}

/**
 * Starts what the targets need, creates their data and calls `run`. Stops and removes everything afterwards, even
 * after an error.
 */
export async function withStage<T>({ targets, nodeArgs, signal }: StageOptions, run: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), 'atrium-bench-'))
  // PostgreSQL's own user must pass through.
  chmodSync(folder, 0o711)
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    // The settings of a real installation, including fsync.
    const postgres = await startEmbeddedPostgres({ dataDir: folder, say: () => {} })
    undo.push(() => postgres.stop())
    const pool = new Pool({ connectionString: postgres.connectionString, max: 4 })
    // After Ctrl-C, PostgreSQL may end before the pool does.
    pool.on('error', () => {})
    undo.push(() => pool.end())
    const servers = new Map<ServerName, Server>()
    // The platform's migrations create the tables of the Space service.
    const names = new Set(targets.map((target) => target.server))
    if (names.has('space')) names.add('atrium')
    for (const name of [...names].toSorted((a, b) => Number(a === 'space') - Number(b === 'space'))) {
      signal.throwIfAborted()
      const server = await startServer(name, {
        databaseUrl: postgres.connectionString,
        folder,
        nodeArgs: nodeArgs?.(folder) ?? [],
      })
      undo.push(() => server.stop())
      servers.set(name, server)
    }
    const data = new Data(pool, servers.get('atrium')?.origin ?? '', signal)
    const ready: Ready[] = []
    for (const target of targets)
      ready.push(
        await prepare(target, data, required(servers.get(target.server), 'a server runs for each target').origin, folder, signal),
      )
    await settle(pool)
    return await run({ folder, pool, servers, ready })
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

async function prepare(target: Target, data: Data, origin: string, folder: string, signal: AbortSignal): Promise<Ready> {
  signal.throwIfAborted()
  const plan = await target.plan(data, origin)
  await probe(origin, plan)
  return { target, origin, plan, planArgs: writePlan(folder, target.name, plan) }
}
