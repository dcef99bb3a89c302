import { type Tx, statement } from '#db/database.ts'
import type { BookState } from './decide.ts'
import {
  type AccountRef,
  type Movement,
  accountKey,
  heldAccount,
  implicitKind,
  lossAccount,
  lossId,
  platformAccount,
  recoveryId,
} from './movement.ts'

interface BookRow {
  what: 'account' | 'locked' | 'transfer' | 'hold' | 'debt'
  tenant_id: string
  id: string
  amount: number
  over: boolean
  seller: string
  purpose: string
}

/** lock-books.sql explains the function. */
const lockStatement = statement<BookRow>(
  'ledger-lock-books',
  'select what, tenant_id, id, amount, over, seller, purpose from lock_books($1, $2, $3, $4, $5, $6, $7, $8)',
)

/**
 * Locks the accounts of the movements and reads the state to decide them on. Where another transaction holds an
 * account's lock, it waits, or, without `waits`, returns the account in `locked`: movements that touch it must not be
 * decided.
 */
export async function lockMovements(
  tx: Tx,
  movements: Movement[],
  { waits }: { waits: boolean },
): Promise<{ state: BookState; locked: Set<string> }> {
  const accounts = distinct(movements.flatMap(accountsOf))
  const debtors = distinct(movements.flatMap((movement) => creditedBackTo(movement) ?? []))
  const transfers = movements.flatMap(transfersOf)
  const rows = await tx.query(lockStatement, [
    accounts.map((account) => account.tenantId),
    accounts.map((account) => account.id),
    accounts.map((account) => implicitKind(account) ?? null),
    transfers.map((transfer) => transfer.tenantId),
    transfers.map((transfer) => transfer.id),
    debtors.map((account) => account.tenantId),
    debtors.map((account) => account.id),
    waits,
  ])
  const locked = new Set<string>()
  const state: BookState = { accounts: new Map(), transfers: new Set(), holds: new Map(), debts: new Map() }
  for (const { what, tenant_id: tenantId, id, amount, over, seller, purpose } of rows) {
    const key = accountKey({ tenantId, id })
    if (what === 'locked') locked.add(key)
    else if (what === 'account') state.accounts.set(key, { balance: amount, over })
    else if (what === 'transfer') state.transfers.add(key)
    else if (what === 'hold') state.holds.set(key, { amount, ended: over })
    else state.debts.set(key, [...(state.debts.get(key) ?? []), { seller, purpose, credits: amount }])
  }
  return { state, locked }
}

function distinct(accounts: AccountRef[]): AccountRef[] {
  return [...new Map(accounts.map((account) => [accountKey(account), account])).values()]
}

/** The transfers, or the hold, by which a movement that was posted before is known. One of them may be missing. */
function transfersOf(movement: Movement): AccountRef[] {
  const { from, id } = movement
  const transfer = { tenantId: from.tenantId, id }
  if (movement.type === 'reversal') return [transfer, { tenantId: platformAccount.tenantId, id: lossId(id) }]
  if (movement.type === 'reinstatement') return [transfer, { tenantId: movement.actor, id: recoveryId(id) }]
  return [transfer]
}

/** The accounts that a movement locks, but for those that `debtAccountsOf` adds. */
export function accountsOf(movement: Movement): AccountRef[] {
  const { from } = movement
  if (movement.type === 'hold') return [from, heldAccount(from)]
  if (movement.type === 'hold_end') return [from, heldAccount(from), ...(movement.capture ? [movement.capture.to] : [])]
  if (movement.type === 'reversal') return [from, platformAccount, lossAccount(movement.actor)]
  if (movement.type === 'reinstatement') return [from, movement.to, lossAccount(movement.actor)]
  return movement.type === 'transfer' && movement.opens ? [from] : [from, movement.to]
}

/** The accounts that a movement also locks, because credits return to an account that owes some. */
export function debtAccountsOf({ debts }: BookState, movement: Movement): AccountRef[] {
  const account = creditedBackTo(movement)
  const owed = account ? (debts.get(accountKey(account)) ?? []) : []
  return owed.length > 0 ? [...owed.map(({ seller }) => lossAccount(seller)), platformAccount] : []
}

/** The account to which credits return. What it owes is read with it. */
function creditedBackTo(movement: Movement): AccountRef | undefined {
  if (movement.type === 'hold_end') return movement.from
  return movement.type === 'return' || movement.type === 'reinstatement' ? movement.to : undefined
}
