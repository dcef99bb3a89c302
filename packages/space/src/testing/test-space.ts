import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createTestDatabase } from '../../../server/testing/test-database.ts'
import type { SpaceBuild } from '../certificate/space-build.ts'
import { startSpace } from '../start-space.ts'

export interface Got {
  status: number
  headers: Headers
  // What a test looks into is its own business.
  body: any
}

export interface TestSpace {
  origin: string
  databaseUrl: string
  /** For looking into what is stored. */
  db: pg.Pool
  logged: string[]
  /** `from`: the address that the caller has; absent: the socket's. */
  call(op: string, fields?: object, from?: string, signal?: AbortSignal): Promise<Got>
  /** Waits until so many polls are held. */
  untilHeld(count: number): Promise<void>
  /** The metrics, as the supervisor collects them. */
  collect(): object
  close(): Promise<void>
}

export const testBuild: SpaceBuild = {
  gitCommit: 'test',
  functionCode: Buffer.from('code'),
  sourceArchive: Buffer.from('source'),
  app: [{ path: '/space', contentType: 'text/html; charset=utf-8', body: Buffer.from('<!doctype html><title>Space</title>') }],
}

/** The Space service in this process, over a database of its own (or one it shares with another). */
export async function startTestSpace(env: NodeJS.ProcessEnv = {}, sharedDatabaseUrl?: string): Promise<TestSpace> {
  const database = sharedDatabaseUrl === undefined ? await createTestDatabase() : undefined
  const databaseUrl = sharedDatabaseUrl ?? database!.url
  const dataDir = await mkdtemp(join(tmpdir(), 'atrium-space-'))
  const logged: string[] = []
  const space = await startSpace({
    env: { SPACE_PORT: '0', DATABASE_URL: databaseUrl, ATRIUM_DATA_DIR: dataDir, ATRIUM_RATE_LIMIT: 'off', ...env },
    build: testBuild,
    log: (line) => logged.push(line),
  })
  const origin = `http://127.0.0.1:${space.port}`
  const db = new pg.Pool({ connectionString: databaseUrl })
  return {
    origin,
    databaseUrl,
    db,
    logged,
    call: async (op, fields = {}, from, signal) => {
      const res = await fetch(`${origin}/space`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(from === undefined ? {} : { 'x-forwarded-for': from }) },
        ...(signal ? { signal } : {}),
        body: JSON.stringify({ op, ...fields }),
      })
      return { status: res.status, headers: res.headers, body: await res.json() }
    },
    untilHeld: async (count) => {
      for (const deadline = Date.now() + 10_000; space.held() !== count; await delay(5)) {
        if (Date.now() > deadline) throw new Error(`${space.held()} polls are held, not ${count}`)
      }
    },
    collect: () => space.metrics.collect(),
    close: async () => {
      await space.stop()
      await db.end()
      await database?.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
