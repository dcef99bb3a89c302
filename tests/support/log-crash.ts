import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseCheckpoint, type Checkpoint } from '@atrium/log/checkpoint'
import { parseNote } from '@atrium/log/note'
import { makeEntries, rootByDefinition } from '@atrium/log/testing/stored-log'
import { Client } from 'pg'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startLogWitness, type LogWitness } from './log-witness.ts'

const child = fileURLToPath(new URL('log-crash-child.ts', import.meta.url))

function runChild(...args: (string | number)[]): Promise<{ output: string; isKilled: boolean }> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [child, ...args.map(String)], (error, output, errors) => {
      const isKilled = error?.signal === 'SIGKILL'
      if (error && !isKilled) reject(new Error(errors))
      else resolve({ output, isKilled })
    })
  })
}

/** Kills the writer of the log at every `stride`th step, with leaves that were queued before and after. */
export function testLogCrashes(stride: number): void {
  const steps = stride === 1 ? 'step' : `${stride}th step`
  test(`kill -9 at every ${steps} of append, integrate, publish and cosign: the log neither forks nor loses or doubles a leaf`, async (t) => {
    const database = await createTestDatabase()
    const client = new Client(database.url)
    await client.connect()
    await client.query(`insert into tenants (id, name) values ('ten_1', 'Issuer')`)
    const folder = mkdtempSync(join(tmpdir(), 'atrium-log-crash-'))
    const witness = await startLogWitness({ databaseUrl: database.url, folder, publicUrl: 'https://atrium.example.com' })
    t.after(async () => {
      await witness.stop()
      await client.end()
      await database.drop()
      rmSync(folder, { recursive: true })
    })
    const acknowledged = new Set<string>()
    const seen: Seen = { published: undefined, cosigned: undefined }
    let from = 0
    // Nearly a tile each, so that tiles become full at different steps.
    const count = 87
    for (let killAt = 1; ; killAt += stride) {
      for (const epoch of await addEpochs(client, from)) acknowledged.add(epoch)
      const { output, isKilled } = await runChild(database.url, killAt, from, count, await witness.policy())
      if (output.includes('queued')) for (const entry of makeEntries(count, from)) acknowledged.add(entry.toString())
      from += count
      await assertSound(client, witness, seen)
      if (!isKilled) {
        t.diagnostic(
          `${/steps (\d+)/.exec(output)?.[1]} steps, ${sizeOf(seen.published)} leaves, ${sizeOf(seen.cosigned)} cosigned`,
        )
        break
      }
    }
    await runChild(database.url, 0, from, 1, await witness.policy())
    await assertSound(client, witness, seen)
    assert.deepEqual(witness.refusals, [])
    assert.equal(sizeOf(seen.cosigned), sizeOf(seen.published))
    const { rows } = await client.query(
      'select convert_from(entry, $$UTF8$$) as entry from log_leaves where position is not null',
    )
    // Epochs by their id.
    const logged = rows.map(({ entry }) => /"epoch":"(\w+)"/.exec(entry as string)?.[1] ?? (entry as string))
    assert.equal(new Set(logged).size, logged.length)
    for (const entry of acknowledged) assert.ok(logged.includes(entry), entry)
    assert.equal(sizeOf(seen.published), logged.length)
  })
}

/** Publishes three epochs. Returns their ids. */
async function addEpochs(client: Client, from: number): Promise<string[]> {
  const ids = Array.from({ length: 3 }, (_, i) => `epo_${from + i}`)
  await client.query(
    `insert into epochs (tenant_id, id, public_key, value) select 'ten_1', id, '{"kty":"RSA","n":"AQ","e":"AQAB"}', 5 from unnest($1::text[]) id`,
    [ids],
  )
  return ids
}

interface Seen {
  published: Checkpoint | undefined
  cosigned: Checkpoint | undefined
}

const sizeOf = (checkpoint: Checkpoint | undefined): number => checkpoint?.size ?? 0

/** The tree is that of its leaves; what is signed or cosigned is a part of it, and continues what was before. */
async function assertSound(client: Client, witness: LogWitness, seen: Seen): Promise<void> {
  const { rows } = await client.query(
    'select entry, position::integer from log_leaves where position is not null order by position',
  )
  const entries = rows.map(({ entry }) => entry as Buffer)
  assert.deepEqual(
    rows.map(({ position }) => position as number),
    entries.map((_, i) => i),
    'positions without gaps',
  )
  const [tree] = (await client.query('select size::integer, root from log_tree')).rows as { size: number; root: Buffer }[]
  assert.equal(tree?.size, entries.length)
  assert.deepEqual(new Uint8Array(tree.root), rootByDefinition(entries))
  const [stored] = (await client.query('select signed from log_checkpoints')).rows as { signed: string }[]
  for (const [kind, signed] of [
    ['published', stored?.signed],
    ['cosigned', witness.findCheckpoint()],
  ] as const) {
    if (signed === undefined) continue
    const now = parseCheckpoint(parseNote(signed).text)
    assert.ok(now.size <= entries.length && now.size >= sizeOf(seen[kind]), kind)
    assert.deepEqual(new Uint8Array(now.root), rootByDefinition(entries.slice(0, now.size)), kind)
    seen[kind] = now
  }
  assert.ok(sizeOf(seen.cosigned) <= sizeOf(seen.published))
}
