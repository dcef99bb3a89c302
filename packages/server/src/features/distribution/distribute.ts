import { setTimeout as delay } from 'node:timers/promises'
import { isAnswerLost } from '@atrium/traffic/database-errors'
import type { Queryable } from '#db/schema-state.ts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import * as citus from './citus-store.ts'
import { groups, listSpread, placements, type Group, type Placement, type TableName } from './placements.ts'

/**
 * Moves the tables that are declared as spread to the nodes of a Citus cluster, with their rows. A group of tables
 * moves in one transaction: after an interruption, the command is repeated, and continues with the groups and tables
 * that are left. `say` receives a line for each step.
 *
 * Throws StartError, and changes nothing, where this is not possible: without Citus, on a worker, in a cluster without
 * workers, or while other programs are connected. The caller holds the lock of migrations, and closes the session
 * afterwards.
 */
export async function distribute(db: Queryable, say: (line: string) => void): Promise<void> {
  await assertCluster(db)
  await citus.holdOffStarts(db)
  await assertAlone(db)
  for (const group of Object.keys(groups) as Group[]) {
    for (const line of await inTransaction(db, `the tables of ${group}`, () => spreadGroup(db, group))) say(line)
    // By itself: Citus refuses it after a parallel copy. Until then, the function runs on the coordinator.
    for (const line of await inTransaction(db, `the functions of ${group}`, () => spreadFunctions(db, group))) say(line)
  }
  for (const line of describeOthers()) say(line)
}

/** Throws StartError if tables are spread over nodes: no transaction sees all nodes at the same moment. */
export async function assertInOnePlace(db: Queryable): Promise<void> {
  const tables = await citus.listSpreadTables(db)
  if (tables.length > 0) {
    throw new StartError(
      `${tables.length} tables are spread over the nodes of a Citus cluster, and a backup would not be one snapshot of all nodes: ` +
        'back up the nodes themselves, up to a common restore point (docs/operating/distribute.md)',
    )
  }
}

async function assertCluster(db: Queryable): Promise<void> {
  const cluster = await citus.findCluster(db)
  if (!cluster) {
    throw new StartError(
      'the database has no Citus, so there are no nodes to spread it over: nothing was changed (docs/operating/distribute.md)',
    )
  }
  if (!cluster.isCoordinator) throw new StartError('DATABASE_URL names a worker of the Citus cluster: name its coordinator')
  if (cluster.workers === 0)
    throw new StartError('the Citus cluster has no worker: add one with citus_add_node, then run atrium distribute again')
}

/** PostgreSQL ends the session of a program that has just left, such as this one's own, only after a moment. */
const goneWithinMs = 3_000

/**
 * A process that runs has read where the shards are, or that there are none, when it started. One that starts later finds
 * that starts are held off.
 */
async function assertAlone(db: Queryable): Promise<void> {
  const until = performance.now() + goneWithinMs
  let others = await citus.listOtherPrograms(db)
  while (others.length > 0 && performance.now() < until) {
    await delay(100)
    others = await citus.listOtherPrograms(db)
  }
  if (others.length === 0) return
  const names = [...new Set(others.map(({ name }) => name))].join(', ')
  const hidden = others.some(({ isVisible }) => !isVisible)
  throw new StartError(
    `other programs are connected to the database (${names}): stop Atrium and them first` +
      (hidden ? '. If one is a part of PostgreSQL, grant pg_read_all_stats to the role of DATABASE_URL' : ''),
  )
}

async function inTransaction(db: Queryable, what: string, work: () => Promise<string[]>): Promise<string[]> {
  await db.query('begin')
  let isEnding = false
  try {
    const lines = await work()
    isEnding = true
    await db.query('commit')
    return lines
  } catch (error) {
    // Without a connection there is nothing to roll back, and the first error is thrown.
    await db.query('rollback').catch(() => undefined)
    const text = messageOf(error)
    const message =
      isEnding && isAnswerLost(error)
        ? `the commit got no answer (${text}), so it is not known whether ${what} were moved: run atrium distribute again`
        : `${what} were not moved: ${text}`
    throw new StartError(message, { cause: error })
  }
}

async function spreadGroup(db: Queryable, group: Group): Promise<string[]> {
  const { root, triggers, before } = groups[group]
  const done = new Set(await citus.listSpreadTables(db))
  const tables = listSpread(group)
  const missing = tables.filter((table) => !done.has(table))
  const lines = tables.filter((table) => done.has(table)).map((table) => `${table}: spread already`)
  const keys = missing.length === 0 ? [] : await citus.listForeignKeys(db, missing)
  for (const key of keys) {
    if (!isIn(key.table, tables) || !isIn(key.target, tables))
      throw new Error(`${key.name} refers from ${key.table} to ${key.target}, which is not spread with it`)
    await citus.dropForeignKey(db, key)
  }
  for (const [table, name] of Object.entries(before)) if (isIn(table, missing)) await citus.callFunction(db, name)
  for (const table of missing) lines.push(await moveTable(db, table, table === root ? undefined : root))
  for (const key of keys) await citus.addForeignKey(db, key)
  for (const [table, trigger] of Object.entries(triggers))
    if (await citus.addTrigger(db, table, trigger)) lines.push(`trigger ${trigger} added to ${table}`)
  if (tables.length > 0) await citus.refuseOlderCode(db)
  return lines
}

async function spreadFunctions(db: Queryable, group: Group): Promise<string[]> {
  const { root, functions } = groups[group]
  const lines = []
  for (const name of functions)
    if (await citus.spreadFunction(db, name, root)) lines.push(`function ${name}: runs on the node of its shard`)
  return lines
}

function isIn(table: string, tables: readonly string[]): boolean {
  return tables.includes(table)
}

async function moveTable(db: Queryable, table: TableName, like: TableName | undefined): Promise<string> {
  const placement: Placement = placements[table]
  if (placement.where !== 'spread') throw new Error(`${table} is not declared as spread`)
  const { by, replaces } = placement
  const before = await citus.lockAndCount(db, table)
  const removed: string[] = []
  for (const trigger of await citus.listTriggers(db, table)) {
    const instead = replaces?.triggers?.[trigger]
    if (instead === undefined) throw new Error(`nothing does the work of trigger ${trigger} on ${table}`)
    await citus.dropTrigger(db, table, trigger)
    removed.push(`trigger ${trigger} removed: ${instead}`)
  }
  await citus.spreadTable(db, table, by.column, like)
  const after = await citus.countRows(db, table)
  if (after !== before) throw new Error(`${table} had ${before} rows, and has ${after} after it was spread`)
  const shards = await citus.countShards(db, table)
  return [`${table}: ${after} rows, spread by ${by.column} over ${shards} shards`, ...removed].join('\n  ')
}

/** The tables that stay on the coordinator, by reason. */
function describeOthers(): string[] {
  const byReason = new Map<string, string[]>()
  for (const [table, placement] of Object.entries<Placement>(placements)) {
    if (placement.where === 'spread') continue
    byReason.set(placement.because, [...(byReason.get(placement.because) ?? []), table])
  }
  return [...byReason].map(([reason, tables]) => `On the coordinator (${reason}): ${tables.join(', ')}`)
}
