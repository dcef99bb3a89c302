import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseCheckpoint, type Checkpoint } from '@atrium/log/checkpoint'
import { parseNote } from '@atrium/log/note'
import { makeEntries, rootByDefinition } from '@atrium/log/testing/stored-log'
import { Client } from 'pg'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'

const child = fileURLToPath(new URL('log-crash-child.ts', import.meta.url))

function runChild(url: string, killAt: number, from: number, count: number): Promise<{ output: string; isKilled: boolean }> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [child, url, String(killAt), String(from), String(count)], (error, output, errors) => {
      const isKilled = error?.signal === 'SIGKILL'
      if (error && !isKilled) reject(new Error(errors))
      else resolve({ output, isKilled })
    })
  })
}

/** Kills the writer of the log at every `stride`th step, with leaves that were queued before and after. */
export function testLogCrashes(stride: number): void {
  test(`kill -9 at every ${stride === 1 ? 'step' : `${stride}th step`} of queue, integrate and publish: the log neither forks nor loses or doubles a leaf`, async (t) => {
    const database = await createTestDatabase()
    const client = new Client(database.url)
    await client.connect()
    t.after(async () => {
      await client.end()
      await database.drop()
    })
    const acknowledged = new Set<string>()
    let published: Checkpoint | undefined
    let from = 0
    // Nearly a tile each, so that tiles become full at different steps.
    const count = 90
    for (let killAt = 1; ; killAt += stride) {
      const { output, isKilled } = await runChild(database.url, killAt, from, count)
      if (output.includes('queued')) for (const entry of makeEntries(count, from)) acknowledged.add(entry.toString())
      from += count
      published = await assertSound(client, published)
      if (!isKilled) {
        t.diagnostic(`${/steps (\d+)/.exec(output)?.[1]} steps, ${published?.size} leaves`)
        break
      }
    }
    await runChild(database.url, 0, from, 1)
    await assertSound(client, published)
    const { rows } = await client.query(
      'select convert_from(entry, $$UTF8$$) as entry from log_leaves where position is not null',
    )
    const logged = rows.map(({ entry }) => entry as string)
    assert.equal(new Set(logged).size, logged.length)
    for (const entry of acknowledged) assert.ok(logged.includes(entry), entry)
  })
}

/** The tree is that of its leaves, what is signed is a part of it, and it continues what was signed before. */
async function assertSound(client: Client, before: Checkpoint | undefined): Promise<Checkpoint | undefined> {
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
  if (stored === undefined) return before
  const signed = parseCheckpoint(parseNote(stored.signed).text)
  for (const { size, root } of before === undefined ? [signed] : [before, signed]) {
    assert.ok(size <= entries.length)
    assert.deepEqual(new Uint8Array(root), rootByDefinition(entries.slice(0, size)))
  }
  assert.ok(signed.size >= (before?.size ?? 0))
  return signed
}
