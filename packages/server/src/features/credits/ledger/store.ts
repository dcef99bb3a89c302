import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { type Db, type Tx, statement } from '#db/database.ts'
import type { Decision } from './decide.ts'
import { type AccountRef, type NewAccount, accountKey } from './movement.ts'
import { writeReversals } from './reversal-store.ts'

const writeStatement = statement<never>(
  'ledger-write',
  // One statement, so one round trip. The trigger on ledger_transfers updates the balances once all rows are written.
  // A row in ledger_due makes the sweeper look: one for each hold and each coupon that expires, and again when credits
  // return to such a coupon, out of a hold or out of a coupon that was granted from it.
  `with opened as (
     insert into ledger_accounts (tenant_id, id, kind, code_hash, origin_tenant_id, origin_id, expires_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::timestamptz[])
   ), transferred as (
     insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, memo, purpose)
     select * from unnest($8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[], $34::text[])
     returning kind, to_tenant_id, to_id
   ), held as (
     insert into ledger_holds (tenant_id, id, account_id, amount, actor, purpose, ends_at)
     select * from unnest($17::text[], $18::text[], $19::text[], $20::bigint[], $21::text[], $22::text[], $23::timestamptz[])
   ), ended as (
     insert into ledger_hold_ends (tenant_id, id, outcome, captured, joined_at, budget, used, used_tokens, used_tool_calls)
     select * from unnest($24::text[], $25::text[], $26::text[], $27::bigint[], $35::timestamptz[], $36::bigint[], $37::bigint[], $38::bigint[], $39::bigint[])
   ), recoverable as (
     insert into ledger_recoveries (tenant_id, id, thumbprint, sealed_code)
     select * from unnest($28::text[], $29::text[], $30::text[], $31::text[])
   ), done as (
     delete from ledger_due where (tenant_id, id) in (select * from unnest($32::text[], $33::text[]))
   )
   insert into ledger_due (tenant_id, id, due_at)
   select * from unnest($17::text[], $18::text[], $23::timestamptz[])
   union all
   select * from unnest($1::text[], $2::text[], $7::timestamptz[]) as o (tenant_id, id, due_at) where o.due_at is not null
   union
   select a.tenant_id, a.id, a.expires_at
   from transferred t
   join ledger_accounts a on a.tenant_id = t.to_tenant_id and a.id = t.to_id
   where t.kind in ('release', 'return') and a.expires_at is not null
   on conflict do nothing`,
)

/** Writes a decision. `handled`: the holds and coupons that the sweeper need not visit again. */
export async function writeDecision(
  tx: Tx,
  { postings, opened, held, ended, reversals }: Decision,
  handled: AccountRef[],
): Promise<void> {
  const newAccounts = opened.flatMap(({ from, to, opens }) => (opens ? [{ from, to, opens }] : []))
  const recoverable = opened.flatMap(({ from, id, recovery }) => (recovery ? [{ from, id, ...recovery }] : []))
  const refilled = new Set(postings.filter(({ kind }) => kind === 'release' || kind === 'return').map(({ to }) => accountKey(to)))
  // One statement cannot delete a row and insert it again: the row of a coupon to which credits returned in this batch
  // stays, and the sweeper visits it once more.
  const done = handled.filter((row) => !refilled.has(accountKey(row)))
  await tx.query(writeStatement, [
    ...columnArrays(newAccounts, accountCells, 7),
    ...columnArrays(
      postings,
      (p) => [p.from.tenantId, p.id, p.kind, p.from.id, p.to.tenantId, p.to.id, p.amount, p.actor, p.memo],
      9,
    ),
    ...columnArrays(held, (h) => [h.from.tenantId, h.id, h.from.id, h.amountCredits, h.actor, h.purpose, h.endsAt], 7),
    ...columnArrays(ended, (e) => [e.from.tenantId, e.id, e.outcome, e.capture?.amountCredits ?? 0], 4),
    ...columnArrays(recoverable, (r) => [r.from.tenantId, r.id, r.thumbprint, r.sealedCode], 4),
    ...columnArrays(done, (row) => [row.tenantId, row.id], 2),
    postings.map(({ purpose }) => purpose ?? null),
    ended.map(({ joinedAt }) => joinedAt ?? null),
    ...columnArrays(
      ended,
      ({ use }) => (use ? [use.budgetCredits, use.usedCredits, use.tokens, use.toolCalls] : [null, null, null, null]),
      4,
    ),
  ])
  // Few batches have any.
  if (reversals.length > 0) await writeReversals(tx, reversals)
}

/** Of the accounts that a code spends, only a coupon remembers its origin, to which its rest returns. */
function accountCells({ from, to, opens }: { from: AccountRef; to: AccountRef; opens: NewAccount }): unknown[] {
  const origin = opens.kind === 'coupon' ? [from.tenantId, from.id] : [null, null]
  return [to.tenantId, to.id, opens.kind, opens.codeHash, ...origin, opens.expiresAt ?? null]
}

/** Transposes rows into one array for each column, as unnest expects them. */
function columnArrays<Row>(rows: Row[], cells: (row: Row) => unknown[], width: number): unknown[][] {
  const filled = rows.map(cells)
  return Array.from({ length: width }, (_, i) => filled.map((row) => row[i]))
}

const recoveryStatement = statement<{ thumbprint: string; sealed_code: string }>(
  'ledger-recovery',
  'select thumbprint, sealed_code from ledger_recoveries where tenant_id = $1 and id = $2',
)

/** The sealed wallet code that a redemption stored, if its caller sent a key for it. */
export async function findRecovery(
  db: Db,
  tenantId: string,
  transactionId: string,
): Promise<{ thumbprint: string; sealedCode: string } | undefined> {
  const [row] = await db.query(recoveryStatement, [tenantId, transactionId])
  return row && { thumbprint: row.thumbprint, sealedCode: row.sealed_code }
}

const postedStatement = statement<{ id: string }>(
  'ledger-posted',
  'select id from ledger_transfers where tenant_id = $1 and id = $2',
)

/** Whether a transfer with this id was posted. */
export async function isPosted(db: Db, tenantId: string, transactionId: string): Promise<boolean> {
  return (await db.query(postedStatement, [tenantId, transactionId])).length === 1
}

interface DueRow {
  what: 'hold' | 'coupon'
  tenant_id: string
  id: string
  to_tenant_id: string
  to_id: string
  actor: string
}

/** A hold or a coupon that is past its end. */
export interface DueEnd {
  what: 'hold' | 'coupon'
  /** Of the hold: its home tenant and id. Of the coupon: its account. */
  subject: AccountRef
  /** The account that a hold was taken from, or that a coupon's rest returns to. */
  to: AccountRef
  /** Of a hold. */
  actor: string
}

const dueStatement = statement<DueRow>(
  'ledger-due',
  // Reads without a lock: the end of a hold locks the accounts first, and a second end moves nothing.
  `select case when h.id is null then 'coupon' else 'hold' end as what, d.tenant_id, d.id,
     coalesce(a.origin_tenant_id, d.tenant_id) as to_tenant_id, coalesce(a.origin_id, h.account_id) as to_id,
     coalesce(h.actor, '') as actor
   from ledger_due d
   left join ledger_holds h on h.tenant_id = d.tenant_id and h.id = d.id
   left join ledger_accounts a on a.tenant_id = d.tenant_id and a.id = d.id
   where d.due_at <= least(now(), $3::timestamptz) and (h.purpose is null or split_part(h.purpose, '/', 1) <> all ($2::text[]))
   order by d.due_at
   limit $1`,
)

/** Which of the holds and coupons that are past their end are not settled yet. */
export interface Spared {
  /** Those whose end is after this time. RFC 3339. */
  after: string
  /** Holds for these purposes. */
  purposes: string[]
}

/** The holds and coupons of all tenants that are past their end, without what is spared. */
export async function listDueEnds(db: Db, limit: number, { after, purposes }: Spared): Promise<DueEnd[]> {
  const rows = await db.query(dueStatement, [limit, purposes, after])
  return rows.map(({ what, tenant_id: tenantId, id, to_tenant_id: toTenantId, to_id: toId, actor }) => ({
    what,
    subject: { tenantId, id },
    to: { tenantId: toTenantId, id: toId },
    actor,
  }))
}

/** An account that the holder of its code may spend. */
export interface CodeAccount {
  account: AccountRef
  kind: 'wallet' | 'coupon' | 'license'
  /** What can be spent now; 0 once the coupon has expired. */
  balanceCredits: number
  /** What open holds set aside. */
  heldCredits: number
  /** Of a coupon that expires. RFC 3339. */
  expiresAt: string | null
}

interface Row {
  tenant_id: string
  id: string
  kind: CodeAccount['kind']
  balance: number
  held: number
  expires_at: string | null
}

const columns = `a.tenant_id, a.id, a.kind, a.expires_at, case when a.expires_at <= now() then 0 else a.balance end as balance,
  coalesce(h.balance, 0) as held`

function toCodeAccount(row: Row): CodeAccount {
  return {
    account: { tenantId: row.tenant_id, id: row.id },
    kind: row.kind,
    balanceCredits: row.balance,
    heldCredits: row.held,
    expiresAt: row.expires_at,
  }
}

const findStatement = statement<Row>(
  'ledger-code-account',
  `select ${columns}
   from ledger_accounts a
   left join ledger_accounts h on h.tenant_id = a.tenant_id and h.id = a.id || '.held'
   where a.code_hash = $1`,
)

/**
 * The account of a well-formed code. Every tenant accepts a code: an issuer grants what another tenant's app spends.
 */
export async function findCodeAccount(db: Db, code: string): Promise<CodeAccount | undefined> {
  const [row] = await db.query(findStatement, [hashCredential(code)])
  return row && toCodeAccount(row)
}

/** The wallet or coupon of a code; undefined: none. A malformed code costs no query. */
export async function findPayer(db: Db, code: string): Promise<CodeAccount | undefined> {
  if (!isCredential('walletCode', code) && !isCredential('coupon', code)) return undefined
  return findCodeAccount(db, code)
}

const balanceStatement = statement<{ balance: number }>(
  'ledger-balance',
  `select balance from ledger_accounts where tenant_id = $1 and id = $2`,
)

/** 0 if nothing was ever moved to the account. */
export async function findBalance(db: Db, { tenantId, id }: AccountRef): Promise<number> {
  const [row] = await db.query(balanceStatement, [tenantId, id])
  return row?.balance ?? 0
}
