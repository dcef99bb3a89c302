import type { Break, ChainStart } from '@atrium/sealing/chain'
import { checkChain, lineHash } from '@atrium/sealing/node-lines'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Db } from '#db/database.ts'
import type { Blobs } from '#ports/blobs/blobs.ts'
import { originalKey } from '../blob-deletions/blob-keys.ts'
import { auditLedger } from '../credits/ledger/audit-store.ts'
import { listLines, listRooms, listSealedValues, listStoredArtifacts, type Room } from './verify-store.ts'

export interface Verification {
  /** One line for each check that passed. */
  proved: string[]
  /** One line for each problem; at most 20 of each kind. */
  problems: string[]
}

const maxProblems = 20

interface Checked {
  what: string
  problems: string[]
}

/**
 * Checks everything that can be checked without room keys: the ledger balances, the lines of every room form a chain
 * that ends in its etag, every sealed value opens under the master keys, and every artifact has its bytes. `db` must
 * allow queries that read a whole table.
 */
export async function verifyRestore(db: Db, vault: Vault, blobs: Blobs | undefined): Promise<Verification> {
  const checks = [
    await verifyBooks(db),
    await verifyRooms(db),
    await verifySealedValues(db, vault),
    ...(blobs ? [await verifyBlobs(db, blobs)] : []),
  ]
  return {
    proved: checks.filter(({ problems }) => problems.length === 0).map(({ what }) => what),
    problems: checks.flatMap(({ problems }) => problems.slice(0, maxProblems)),
  }
}

/** Holds and coupons that expired since the snapshot are settled once the server runs, so they are not problems. */
const dueRules: ReadonlySet<string> = new Set(['no hold is past its end', 'no expired coupon holds credits'])

async function verifyBooks(db: Db): Promise<Checked> {
  const { transfers, accounts, findings } = await auditLedger(db)
  const wrong = findings.filter(({ rule }) => !dueRules.has(rule))
  return {
    what: `the books balance: ${transfers} transfers between ${accounts} accounts`,
    problems: wrong.map(({ rule, subject, detail }) => `the books: ${rule}: ${subject}: ${detail}`),
  }
}

async function verifyRooms(db: Db): Promise<Checked> {
  const problems: string[] = []
  let rooms = 0
  let lines = 0
  for await (const found of listRooms(db)) {
    rooms++
    lines += found.count
    const problem = await findRoomProblem(db, found)
    if (problem) problems.push(`room ${found.room}: ${problem}`)
  }
  return { what: `the chain of every room holds: ${rooms} rooms with ${lines} lines`, problems }
}

async function findRoomProblem(db: Db, { room, count, etag, isClientSealed }: Room): Promise<string | undefined> {
  const findBreak = isClientSealed ? findPlacedBreak : checkChain
  let fromSeq = 0
  let prev: string | undefined
  for (;;) {
    const lines = await listLines(db, room, fromSeq)
    const last = lines.at(-1)
    if (last === undefined) break
    const broken = findBreak(lines, { fromSeq, prev })
    if (broken) return `line ${broken.seq} breaks the chain (${broken.problem})`
    fromSeq += lines.length
    prev = lineHash(last)
  }
  if (fromSeq !== count) return `it has ${fromSeq} lines instead of ${count}`
  return prev === etag ? undefined : 'its last line is not that of its etag'
}

/**
 * What the service has put into a line that a client has sealed (`placeLine`). The rest of the line is the client's: one that
 * no reader accepts says nothing about the restore.
 */
const place = /^[^,]*,"unprotected":\{"seq":(\d+)(?:,"prev":"([\w-]{43})")?\},/

function findPlacedBreak(lines: readonly string[], { fromSeq, prev: start }: ChainStart): Break | undefined {
  let prev = start
  for (const [i, line] of lines.entries()) {
    const seq = fromSeq + i
    const [form, seqText, before] = place.exec(line) ?? []
    if (form === undefined) return { seq, problem: 'form' }
    if (Number(seqText) !== seq) return { seq, problem: 'seq' }
    if (before !== prev) return { seq, problem: 'prev' }
    prev = lineHash(line)
  }
  return undefined
}

/** All values are opened: a sample could miss the one column under a key that is missing. */
async function verifySealedValues(db: Db, vault: Vault): Promise<Checked> {
  const problems: string[] = []
  let values = 0
  for await (const { column, tenant, row, sealed } of listSealedValues(db)) {
    values++
    try {
      vault.open(sealed, { ...column, tenant, row })
    } catch (error) {
      problems.push(`${column.table}.${column.column} of ${tenant}/${row}: ${(error as Error).message}`)
    }
  }
  return { what: `the master key opens all ${values} sealed values`, problems }
}

async function verifyBlobs(db: Db, blobs: Blobs): Promise<Checked> {
  const problems: string[] = []
  let artifacts = 0
  for await (const { tenantId, collectionId, id } of listStoredArtifacts(db)) {
    artifacts++
    if (!(await blobs.stat(originalKey({ tenantId, collectionId }, id))))
      problems.push(`artifact ${id}: its stored file is missing`)
  }
  return { what: `all ${artifacts} stored artifacts have their file`, problems }
}
