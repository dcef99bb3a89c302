import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { proveLeaf } from '#features/transparency-log/daily-tree/build-tree.ts'
import { proofUrl } from '#features/transparency-log/entries.ts'
import { type AccountRef, heldAccount, issuerAccount, revenueAccount } from '../ledger/movement.ts'
import { findPayer } from '../ledger/store.ts'
import { accountName, booksEntry } from './log-books.ts'
import { booksTiles, type BooksRoot, findRoot } from './store.ts'

export const proveBalances: HandlerOf<'proveBalances'> = async ({ ctx, tenantId, query }) => {
  const issuer = issuerAccount(tenantId)
  return answer(ctx, query.day, [issuer, heldAccount(issuer), revenueAccount(tenantId)])
}

/** A code that never existed and one that held nothing have the same answer. */
export const lookUpBalanceProofs: HandlerOf<'lookUpBalanceProofs'> = async ({ ctx, body }) => {
  const payer = await findPayer(ctx.db, body.wallet_code)
  return answer(ctx, body.day, payer ? [payer.account, heldAccount(payer.account)] : [])
}

async function answer(ctx: Context, day: string | undefined, accounts: AccountRef[]) {
  const root = await findRoot(ctx.db, day)
  const proofs = root ? await Promise.all(accounts.map((account) => proveAccount(ctx, root, account))) : []
  return {
    status: 200 as const,
    data: { books: root ? rootView(ctx, root) : null, proofs: proofs.filter((proof) => proof !== undefined) },
  }
}

function rootView({ config }: Context, root: BooksRoot) {
  const { day, accounts, totalCredits } = root
  const entry = booksEntry(root)
  return { day, accounts, total: totalCredits, root: root.root.toString('hex'), log_proof: proofUrl(config.publicUrl, entry) }
}

async function proveAccount({ db }: Context, { day, accounts }: BooksRoot, account: AccountRef) {
  const name = accountName(account)
  const leaf = await booksTiles.findLeaf(db, day, [account.tenantId, account.id], (one) => one === name)
  if (!leaf) return undefined
  return {
    account: name,
    balance: leaf.value,
    salt: leaf.salt.toString('hex'),
    path: await proveLeaf(db, booksTiles, day, accounts, leaf),
  }
}
