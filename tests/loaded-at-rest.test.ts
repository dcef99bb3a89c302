import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium } from './support/atrium-process.ts'
import { childWith } from './support/process-memory.ts'

interface Loaded {
  files: string[]
  builtins: string[]
}

/** Each file takes some 20 KB of the process. 819 and 358 were loaded when this was written. */
const most = { api: 860, worker: 380 }

/**
 * Libraries that are loaded with the first work that needs them, or as one file: see scripts/libraries.ts. fetch and
 * WebSocket are of undici.
 */
const absent = [
  'ai',
  '@ai-sdk',
  '@aws-sdk',
  '@opentelemetry',
  'jose',
  'prom-client',
  'sharp',
  'stripe',
  'typebox',
  'undici',
  'yaml',
]

test('at rest, API and job worker have loaded what they need and nothing else', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const folder = await mkdtemp(join(tmpdir(), 'atrium-loaded-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const report = fileURLToPath(new URL('./support/report-loaded.cjs', import.meta.url))
  const env = { NODE_OPTIONS: `--require ${report}`, REPORT_LOADED: folder }
  const atrium = await startAtrium({ databaseUrl: database.url, env })
  t.after(() => atrium.end())
  // The first turns of the periodic tasks.
  await delay(5_000)
  const pids = { api: atrium.pid, worker: await childWith(atrium.pid, 'job-worker-main') }
  for (const [role, pid] of Object.entries(pids)) {
    const { files, builtins } = await loadedBy(pid, folder)
    const counted = files.length
    t.diagnostic(`${role}: ${counted} files`)
    assert.ok(counted > 100 && counted <= most[role as keyof typeof most], `${role}: ${counted} files`)
    const names = new Set(files.flatMap((url) => /.*\/node_modules\/((@[^/]+)?[^/]*)/.exec(url)?.slice(1) ?? []))
    assert.deepEqual(
      absent.filter((name) => names.has(name)),
      [],
      role,
    )
    assert.deepEqual(
      builtins.filter((name) => name.includes('undici')),
      [],
      role,
    )
  }
})

async function loadedBy(pid: number, folder: string): Promise<Loaded> {
  process.kill(pid, 'SIGUSR2')
  for (let i = 0; i < 1_000; i++) {
    await delay(50)
    const text = await readFile(join(folder, `${pid}.json`), 'utf8').catch(() => '')
    if (text.endsWith('}')) return JSON.parse(text) as Loaded
  }
  throw new Error(`process ${pid} reports nothing`)
}
