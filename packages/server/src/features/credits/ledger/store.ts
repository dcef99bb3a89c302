import { statement, type Tx } from '#db/database.ts'
import { accountKey, heldAccount, standingKind, type AccountRef } from './account.ts'
import type { BookState, Decision } from './decide.ts'
import type { Movement } from './movement.ts'

interface BookRow {
  what: 'account' | 'locked' | 'transfer' | 'hold'
  tenant_id: string
  id: string
  amount: number
  over: boolean
}

/** The function is explained in migrations/0004-ledger.sql and migrations/0026-books-that-do-not-wait.sql. */
const lockStatement = statement<BookRow>(
  'ledger-lock',
  'select what, tenant_id, id, amount, over from lock_movements($1, $2, $3, $4, $5, $6)',
)

/**
 * Locks the accounts of movements and reads what they have to be decided on. Accounts that somebody else holds are waited for, or else told:
 * what touches them must not be decided.
 */
export async function lockMovements(
  tx: Tx,
  movements: Movement[],
  { waits }: { waits: boolean },
): Promise<{ state: BookState; locked: Set<string> }> {
  const accounts = [...new Map(movements.flatMap(accountsOf).map((account) => [accountKey(account), account])).values()]
  const rows = await tx.query(lockStatement, [
    accounts.map((account) => account.tenantId),
    accounts.map((account) => account.id),
    accounts.map((account) => standingKind(account) ?? null),
    movements.map((movement) => movement.from.tenantId),
    movements.map((movement) => movement.id),
    waits,
  ])
  const locked = new Set<string>()
  const state: BookState = { accounts: new Map(), transfers: new Set(), holds: new Map() }
  for (const { what, tenant_id: tenantId, id, amount, over } of rows) {
    const key = accountKey({ tenantId, id })
    if (what === 'locked') locked.add(key)
    else if (what === 'account') state.accounts.set(key, { balance: amount, over })
    else if (what === 'transfer') state.transfers.add(key)
    else state.holds.set(key, { amount, ended: over })
  }
  return { state, locked }
}

/** What a movement locks. */
export function accountsOf(movement: Movement): AccountRef[] {
  const { from } = movement
  if (movement.type === 'hold') return [from, heldAccount(from)]
  if (movement.type === 'hold_end') return [from, heldAccount(from), ...(movement.capture ? [movement.capture.to] : [])]
  return movement.type === 'transfer' && movement.opens ? [from] : [from, movement.to]
}

const writeStatement = statement<never>(
  'ledger-write',
  // One statement, so one round trip. The balances follow by the trigger on ledger_transfers, which runs when all of it is written. A due
  // row is what makes the sweeper look: one for each hold and each coupon that expires, again when something comes back to such a coupon,
  // be it out of a hold or out of a coupon that was granted from it.
  `with opened as (
     insert into ledger_accounts (tenant_id, id, kind, code_hash, origin_tenant_id, origin_id, expires_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::timestamptz[])
   ), transferred as (
     insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, memo)
     select * from unnest($8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[])
     returning kind, to_tenant_id, to_id
   ), held as (
     insert into ledger_holds (tenant_id, id, account_id, amount, actor, purpose, ends_at)
     select * from unnest($17::text[], $18::text[], $19::text[], $20::bigint[], $21::text[], $22::text[], $23::timestamptz[])
   ), ended as (
     insert into ledger_hold_ends (tenant_id, id, outcome, captured)
     select * from unnest($24::text[], $25::text[], $26::text[], $27::bigint[])
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

/** Writes what was decided. `handled` are holds and coupons that the sweeper need not look at again. */
export async function writeDecision(tx: Tx, { postings, opened, held, ended }: Decision, handled: AccountRef[]): Promise<void> {
  const recoverable = opened.filter((transfer) => transfer.recovery)
  const refilled = new Set(postings.filter(({ kind }) => kind === 'release' || kind === 'return').map(({ to }) => accountKey(to)))
  // One statement can not delete a row and insert it again: that of a coupon to which something came back in this batch stays instead,
  // and the sweeper looks once more.
  const done = handled.filter((row) => !refilled.has(accountKey(row)))
  await tx.query(writeStatement, [
    ...columns(
      opened,
      (t) => {
        const coupon = t.opens!.kind === 'coupon'
        const { tenantId, id } = t.to
        return [
          tenantId,
          id,
          t.opens!.kind,
          t.opens!.codeHash,
          coupon ? t.from.tenantId : null,
          coupon ? t.from.id : null,
          t.opens!.expiresAt ?? null,
        ]
      },
      7,
    ),
    ...columns(postings, (p) => [p.from.tenantId, p.id, p.kind, p.from.id, p.to.tenantId, p.to.id, p.amount, p.actor, p.memo], 9),
    ...columns(held, (h) => [h.from.tenantId, h.id, h.from.id, h.amountCredits, h.actor, h.purpose, h.endsAt], 7),
    ...columns(ended, (e) => [e.from.tenantId, e.id, e.outcome, e.capture?.amountCredits ?? 0], 4),
    ...columns(recoverable, (t) => [t.from.tenantId, t.id, t.recovery!.thumbprint, t.recovery!.sealedCode], 4),
    ...columns(done, (row) => [row.tenantId, row.id], 2),
  ])
}

/** Rows turned into one array a column, as unnest takes them. */
function columns<Row>(rows: Row[], cells: (row: Row) => unknown[], width: number): unknown[][] {
  const out: unknown[][] = Array.from({ length: width }, () => [])
  for (const row of rows) cells(row).forEach((cell, i) => out[i]!.push(cell))
  return out
}
