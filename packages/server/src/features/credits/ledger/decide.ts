import type { NewEvent } from '#features/events/event.ts'
import { event } from '#features/events/record-event.ts'
import {
  type AccountRef,
  type Hold,
  type HoldEnd,
  type Movement,
  type MovementOutcome,
  type Reinstatement,
  type Reversal,
  type Transfer,
  type TransferKind,
  accountKey,
  heldAccount,
  lossAccount,
  lossId,
  platformAccount,
  recoveryId,
  transactionId,
} from './movement.ts'

/** The part of the books that a batch of movements touches. accountKey makes the keys. */
export interface BookState {
  accounts: Map<string, { balance: number; over: boolean }>
  /** Transfers that are already posted. */
  transfers: Set<string>
  holds: Map<string, { amount: number; ended: boolean }>
  /** What accounts owe for returned payments. */
  debts: Map<string, Debt[]>
}

/** Credits of a returned payment that could not be taken back yet. */
interface Debt {
  /** The tenant that sold the credits, which has the loss. */
  seller: string
  /** The checkout. */
  purpose: string
  credits: number
}

/** What a movement changes in the record of a returned payment. */
export interface ReversalChange extends Omit<Debt, 'credits'> {
  /** The account that the credits were or are taken from. */
  account: AccountRef
  /** Negative if the payment came back. */
  reversed: number
  lost: number
  recovered: number
  /** Where `reversed` is positive: see Reversal. */
  total?: number
}

/** A transfer to write. */
interface Posting {
  id: string
  kind: TransferKind
  from: AccountRef
  to: AccountRef
  amount: number
  actor: string
  memo: string | null
  purpose?: string | undefined
}

/** The outcome of each movement of a batch, and the rows to write for those that are posted. */
export interface Decision {
  outcomes: MovementOutcome[]
  postings: Posting[]
  opened: Transfer[]
  held: Hold[]
  ended: HoldEnd[]
  reversals: ReversalChange[]
  events: NewEvent[]
}

/**
 * Decides a batch in order, each movement on the state that the earlier ones leave. `refused`: the indexes of
 * movements whose Idempotency-Key another request has taken; they move nothing. Mutates none of its arguments.
 */
export function decide(state: BookState, movements: Movement[], refused: ReadonlySet<number>): Decision {
  const book = new Book(state)
  const { postings } = book
  const decision: Decision = { outcomes: [], postings, opened: [], held: [], ended: [], reversals: [], events: [] }
  movements.forEach((movement, i) => {
    decision.outcomes.push(refused.has(i) ? 'claim_taken' : decideOne(book, decision, movement))
  })
  return decision
}

function decideOne(book: Book, decision: Decision, movement: Movement): MovementOutcome {
  if (movement.type === 'hold_end') return endHold(book, decision, movement)
  if (movement.type === 'return') return returnRest(book, decision, movement)
  if (movement.type === 'reversal') return reverse(book, decision, movement)
  if (movement.type === 'reinstatement') return reinstate(book, decision, movement)
  if (book.has(movement.from, movement.id)) return 'repeated'
  const to = movement.type === 'hold' ? heldAccount(movement.from) : movement.to
  const memo = movement.type === 'hold' ? null : (movement.memo ?? null)
  const kind = movement.type === 'hold' ? 'hold' : movement.kind
  const { id, from, amountCredits: amount, actor } = movement
  const purpose = movement.type === 'transfer' ? movement.purpose : undefined
  if (movement.type === 'transfer' && movement.isWholeBalance && book.balance(from) !== amount) return 'insufficient'
  if (movement.type === 'transfer' && movement.opens) book.open(to)
  if (!book.move({ id, kind, from, to, amount, actor, memo, purpose })) return 'insufficient'
  if (movement.type === 'hold') {
    book.hold(movement)
    decision.held.push(movement)
  } else {
    if (movement.opens) decision.opened.push(movement)
    if (movement.event) decision.events.push(movement.event)
  }
  return 'posted'
}

function endHold(book: Book, decision: Decision, end: HoldEnd): MovementOutcome {
  const hold = book.findHold(end)
  if (!hold) return 'unknown_hold'
  if (hold.ended) return 'repeated'
  const captured = end.capture?.amountCredits ?? 0
  if (captured > hold.amount) return 'unknown_hold'
  const from = heldAccount(end.from)
  const actor = end.actor
  const move = (kind: 'capture' | 'release', to: AccountRef, amount: number) => {
    // The held account is the sum of the open holds, so that it always covers this one.
    if (amount > 0 && !book.move({ id: transactionId(kind, end.id), kind, from, to, amount, actor, memo: null }))
      throw new Error(`hold ${end.id} is not covered by its held account`)
  }
  if (end.capture) move('capture', end.capture.to, captured)
  const released = hold.amount - captured
  move('release', end.from, released)
  payDebts(book, decision, { account: end.from, returned: released, cause: end.id })
  book.endHold(end)
  decision.ended.push(end)
  return 'posted'
}

function returnRest(book: Book, decision: Decision, { id, from, to }: Extract<Movement, { type: 'return' }>): MovementOutcome {
  const amount = book.rest(from)
  if (amount === 0) return 'repeated'
  book.move({ id, kind: 'return', from, to, amount, actor: from.tenantId, memo: null })
  payDebts(book, decision, { account: to, returned: amount, cause: id })
  return 'posted'
}

function reverse(book: Book, decision: Decision, movement: Reversal): MovementOutcome {
  const { id, from, amountCredits, totalCredits: total, actor, purpose } = movement
  if (book.has(from, id) || book.has(platformAccount, lossId(id))) return 'repeated'
  const taken = Math.min(book.balance(from), amountCredits)
  const told = { actor, memo: null, purpose }
  if (taken > 0) book.move({ id, kind: 'refund', from, to: platformAccount, amount: taken, ...told })
  const lost = amountCredits - taken
  if (lost > 0) book.move({ id: lossId(id), kind: 'loss', from: platformAccount, to: lossAccount(actor), amount: lost, ...told })
  book.owe(from, { seller: actor, purpose, credits: lost })
  decision.reversals.push({ seller: actor, purpose, account: from, reversed: amountCredits, lost, recovered: 0, total })
  return 'posted'
}

/**
 * Pays what the account owes from credits that have just returned to it. `cause`: the id of the hold or return, which
 * happens once, so this does too. Credits that were bought later, and so paid for, are not touched.
 */
function payDebts(
  book: Book,
  decision: Decision,
  { account, returned, cause }: { account: AccountRef; returned: number; cause: string },
): void {
  let left = returned
  for (const { seller, purpose, credits } of book.debts(account)) {
    const amount = Math.min(left, credits)
    if (amount === 0) return
    left -= amount
    const id = transactionId('repayment', cause, seller, purpose)
    if (!book.move({ id, kind: 'refund', from: account, to: platformAccount, amount, actor: seller, memo: null, purpose }))
      throw new Error(`account ${account.id} does not have what returned to it`)
    book.recover(account, { seller, purpose, credits: amount }, recoveryId(id))
    decision.reversals.push({ seller, purpose, account, reversed: 0, lost: 0, recovered: amount })
    decision.events.push(event(seller, 'checkout.recovered', { checkout_id: purpose, taken: amount, owed: credits - amount }))
  }
}

function reinstate(book: Book, decision: Decision, movement: Reinstatement): MovementOutcome {
  const { id, from, to, amountCredits, actor: seller, purpose } = movement
  if (book.has(from, id) || book.has(lossAccount(seller), recoveryId(id))) return 'repeated'
  const owed = book.debts(to).find((debt) => debt.seller === seller && debt.purpose === purpose)?.credits ?? 0
  const recovered = Math.min(owed, amountCredits)
  if (recovered > 0) book.recover(to, { seller, purpose, credits: recovered }, recoveryId(id))
  const amount = amountCredits - recovered
  if (amount > 0) book.move({ id, kind: 'refund', from, to, amount, actor: seller, memo: null, purpose })
  decision.reversals.push({ seller, purpose, account: to, reversed: -amountCredits, lost: 0, recovered })
  return 'posted'
}

const platformKey = accountKey(platformAccount)

/** The books in memory, as the movements change them. */
class Book {
  readonly postings: Posting[] = []
  readonly #accounts: Map<string, { balance: number; over: boolean }>
  readonly #transfers: Set<string>
  readonly #holds: Map<string, { amount: number; ended: boolean }>
  readonly #debts: Map<string, Debt[]>

  constructor(state: BookState) {
    this.#accounts = new Map(Array.from(state.accounts, ([key, account]) => [key, { ...account }]))
    this.#transfers = new Set(state.transfers)
    this.#holds = new Map(state.holds)
    this.#debts = new Map(state.debts)
  }

  has({ tenantId }: AccountRef, id: string): boolean {
    return this.#transfers.has(accountKey({ tenantId, id }))
  }

  open(account: AccountRef): void {
    this.#accounts.set(accountKey(account), { balance: 0, over: false })
  }

  /** The rest of an account that has expired. */
  rest(account: AccountRef): number {
    const found = this.#accounts.get(accountKey(account))
    return found?.over ? found.balance : 0
  }

  balance(account: AccountRef): number {
    return this.#accounts.get(accountKey(account))?.balance ?? 0
  }

  findHold({ from: { tenantId }, id }: HoldEnd) {
    return this.#holds.get(accountKey({ tenantId, id }))
  }

  hold({ from: { tenantId }, id, amountCredits }: Hold): void {
    this.#holds.set(accountKey({ tenantId, id }), { amount: amountCredits, ended: false })
  }

  endHold({ from: { tenantId }, id }: HoldEnd): void {
    const key = accountKey({ tenantId, id })
    const hold = this.#holds.get(key)
    if (hold) this.#holds.set(key, { ...hold, ended: true })
  }

  /** What the account owes now. */
  debts(account: AccountRef): readonly Debt[] {
    return this.#debts.get(accountKey(account)) ?? []
  }

  /** This part of what the account owed is no loss any more. */
  recover(account: AccountRef, { seller, purpose, credits: amount }: Debt, id: string): void {
    const from = lossAccount(seller)
    if (!this.move({ id, kind: 'loss', from, to: platformAccount, amount, actor: seller, memo: null, purpose }))
      throw new Error(`the loss account of ${seller} has less than is owed to it`)
    this.owe(account, { seller, purpose, credits: -amount })
  }

  /** The account owes this much more. */
  owe(account: AccountRef, { seller, purpose, credits }: Debt): void {
    const isSame = (debt: Debt) => debt.seller === seller && debt.purpose === purpose
    const owed = this.debts(account)
      .filter(isSame)
      .reduce((sum, debt) => sum + debt.credits, credits)
    const others = this.debts(account).filter((debt) => !isSame(debt))
    this.#debts.set(accountKey(account), owed > 0 ? [...others, { seller, purpose, credits: owed }] : others)
  }

  /**
   * false: `from` cannot pay. Credits leave an expired account only by a return; the end of a hold debits the held
   * account.
   */
  move(posting: Posting): boolean {
    const { from, to, amount, kind, id } = posting
    const payer = this.#accounts.get(accountKey(from))
    const payee = this.#accounts.get(accountKey(to))
    if (!payee) throw new Error(`${kind} ${id} credits an account that does not exist`)
    const fromPlatform = accountKey(from) === platformKey
    if (!payer || (!fromPlatform && payer.balance < amount) || (payer.over && kind !== 'return')) return false
    payer.balance += fromPlatform ? amount : -amount
    payee.balance += accountKey(to) === platformKey ? -amount : amount
    this.#transfers.add(accountKey({ tenantId: from.tenantId, id }))
    this.postings.push(posting)
    return true
  }
}
