import assert from 'node:assert/strict'
import type pg from 'pg'

/** Fails unless Citus sends the statement to one shard. */
export async function assertOneShard(
  db: pg.Pool,
  { name, text, values }: { name: string; text: string; values: unknown[] },
): Promise<void> {
  const { rows } = await db.query({ text: `explain ${text}`, values })
  const plan: string = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.deepEqual(new Set(plan.match(/Task Count: \d+/g)), new Set(['Task Count: 1']), `${name}:\n${plan}`)
}

/** What Citus sends to its workers for a transaction of these statements. */
export async function listRemoteCommands(db: pg.Pool, statements: [text: string, values: unknown[]][]): Promise<string[]> {
  const commands: string[] = []
  const client = await db.connect()
  client.on('notice', ({ message }) => commands.push(String(message)))
  await client.query('set citus.log_remote_commands = on')
  await client.query('begin')
  for (const [text, values] of statements) await client.query(text, values)
  await client.query('commit')
  client.release(true)
  return commands
}
