import { statement, type Db, type Tx } from '#db/database.ts'
import { maxScannedRows, scannedPage, type ScannedRow } from '#http/scanned-page.ts'
import type { TimeRange } from '#http/time-page.ts'
import type { AccountRef } from '../ledger/movement.ts'
import type { Checkout, CheckoutStatus, Dispute } from './checkout.ts'

interface Row {
  tenant_id: string
  id: string
  purpose: Checkout['purpose']
  credits: number
  provider: Checkout['provider']
  reference: string
  url: string
  success_url: string
  cancel_url: string
  license_sealed: Buffer | null
  license_account: string | null
  payment: string | null
  paid_amount: number | null
  refunded_amount: number
  disputed_amount: number
  reinstated_amount: number
  disputes: Record<string, Dispute>
  returned_credits: number
  created_at: string
  expires_at: string
  pending_at: string | null
  ended_at: string | null
  paid_at: string | null
  read_at: string
}

const columns = `tenant_id, id, purpose, credits, provider, reference, url, success_url, cancel_url, license_sealed, license_account,
  payment, paid_amount, refunded_amount, disputed_amount, reinstated_amount, disputes, returned_credits, created_at, expires_at, pending_at, ended_at, paid_at,
  now()::timestamptz(3) as read_at`

function toCheckout(row: Row): Checkout {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    purpose: row.purpose,
    credits: row.credits,
    provider: row.provider,
    reference: row.reference,
    url: row.url,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    licenseSealed: row.license_sealed,
    licenseAccount: row.license_account,
    payment: row.payment,
    paidAmount: row.paid_amount,
    refundedAmount: row.refunded_amount,
    disputedAmount: row.disputed_amount,
    reinstatedAmount: row.reinstated_amount,
    disputes: row.disputes,
    returnedCredits: row.returned_credits,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    pendingAt: row.pending_at,
    endedAt: row.ended_at,
    paidAt: row.paid_at,
    readAt: row.read_at,
  }
}

type NewCheckout = Pick<
  Checkout,
  'tenantId' | 'id' | 'purpose' | 'credits' | 'provider' | 'reference' | 'url' | 'successUrl' | 'cancelUrl' | 'expiresAt'
>

const insertStatement = statement<never>(
  'checkouts-insert',
  `insert into checkouts (tenant_id, id, purpose, credits, provider, reference, url, success_url, cancel_url, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)

export async function insertCheckout(tx: Tx, checkout: NewCheckout): Promise<void> {
  await tx.query(insertStatement, [
    checkout.tenantId,
    checkout.id,
    checkout.purpose,
    checkout.credits,
    checkout.provider,
    checkout.reference,
    checkout.url,
    checkout.successUrl,
    checkout.cancelUrl,
    checkout.expiresAt,
  ])
}

const findStatement = statement<Row>('checkouts-find', `select ${columns} from checkouts where tenant_id = $1 and id = $2`)

export async function findCheckout(db: Db, tenantId: string, id: string): Promise<Checkout | undefined> {
  const [row] = await db.query(findStatement, [tenantId, id])
  return row && toCheckout(row)
}

const findByIdStatement = statement<Row>('checkouts-find-by-id', `select ${columns} from checkouts where id = $1`)

/** The checkout with this id, of any tenant: the provider and the buyer know only the id. */
export async function findCheckoutById(db: Db, id: string): Promise<Checkout | undefined> {
  const [row] = await db.query(findByIdStatement, [id])
  return row && toCheckout(row)
}

const findByPaymentStatement = statement<{ tenant_id: string; id: string }>(
  'checkouts-find-by-payment',
  'select tenant_id, id from checkouts where payment = $1 and provider = $2',
)

/** The checkout of the provider's payment, of any tenant. */
export async function findCheckoutByPayment(
  db: Db,
  payment: string,
  provider: Checkout['provider'],
): Promise<Pick<Checkout, 'tenantId' | 'id'> | undefined> {
  const [row] = await db.query(findByPaymentStatement, [payment, provider])
  return row && { tenantId: row.tenant_id, id: row.id }
}

const lockStatement = statement<Row>(
  'checkouts-lock',
  `select ${columns} from checkouts where tenant_id = $1 and id = $2 for no key update`,
)

/** Reads and locks the row for a change that depends on it: completions of one checkout are serialised. */
export async function findCheckoutForUpdate(tx: Tx, tenantId: string, id: string): Promise<Checkout | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, id])
  return row && toCheckout(row)
}

const updateStatement = statement<never>(
  'checkouts-update',
  `update checkouts set license_sealed = $3, license_account = $4, pending_at = $5, ended_at = $6, paid_at = $7,
     payment = $8, paid_amount = $9, refunded_amount = $10, disputed_amount = $11, returned_credits = $12,
     reinstated_amount = $13, disputes = $14
   where tenant_id = $1 and id = $2`,
)

export async function updateCheckout(tx: Tx, checkout: Checkout): Promise<void> {
  const { tenantId, id, licenseSealed, licenseAccount, pendingAt, endedAt, paidAt } = checkout
  const { payment, paidAmount, refundedAmount, disputedAmount, returnedCredits, reinstatedAmount } = checkout
  const disputes = JSON.stringify(checkout.disputes)
  const returned = [payment, paidAmount, refundedAmount, disputedAmount, returnedCredits, reinstatedAmount, disputes]
  await tx.query(updateStatement, [tenantId, id, licenseSealed, licenseAccount, pendingAt, endedAt, paidAt, ...returned])
}

const listStatement = statement<Row & ScannedRow>(
  'checkouts-of-tenant',
  // The status, as statusOf derives it.
  `select ${columns}, matches, is_end from (
     select c.*, row_number() over (order by created_at desc, id desc) = $7 as is_end,
       ($6::text is null or purpose = $6) and ($5::text is null or $5 = case
         when paid_at is not null then 'paid'
         when ended_at is not null then 'expired'
         when pending_at is not null or expires_at > read_at then 'open'
         else 'expired'
       end) as matches
     from (
       select ${columns} from checkouts
       where tenant_id = $1 and (created_at, id) < ($2::timestamptz, $3) and created_at >= $4::timestamptz
       order by created_at desc, id desc limit $7
     ) c
   ) c
   where matches or is_end
   order by created_at desc, id desc limit $8`,
)

interface ListQuery {
  status?: CheckoutStatus | undefined
  purpose?: Checkout['purpose'] | undefined
  range: TimeRange
  limit: number
}

/** Newest first. `last` is the position from which the next page continues; undefined at the end of the list. */
export async function listCheckouts(
  db: Db,
  tenantId: string,
  { status, purpose, range, limit }: ListQuery,
): Promise<{ checkouts: Checkout[]; last: Checkout | undefined }> {
  const { after, from } = range
  const filters = [status ?? null, purpose ?? null, maxScannedRows, limit + 1]
  const rows = await db.query(listStatement, [tenantId, after.createdAt, after.id, from, ...filters])
  const { page, last } = scannedPage(rows, limit)
  return { checkouts: page.map(toCheckout), last: last && toCheckout(last) }
}

const eraseStatement = statement<never>(
  'checkouts-erase-license',
  'update checkouts set license_sealed = null where tenant_id = $1 and license_account = $2 and license_sealed is not null',
)

/** Erases the redeemed license key of this account. */
export async function eraseLicense(db: Db, { tenantId, id }: AccountRef): Promise<void> {
  await db.query(eraseStatement, [tenantId, id])
}

const eraseOfStatement = statement<never>(
  'checkouts-erase-license-of',
  // Credits that come back raise reinstated_amount, so both together tell whether any have moved.
  `update checkouts set license_sealed = null
   where tenant_id = $1 and id = $2 and returned_credits = $3 and reinstated_amount = $4`,
)

/** Erases the license key of this checkout, unless a refund or dispute has moved credits since the checkout was read. */
export async function eraseLicenseOf(
  db: Db,
  { tenantId, id, returnedCredits, reinstatedAmount }: Pick<Checkout, 'tenantId' | 'id' | 'returnedCredits' | 'reinstatedAmount'>,
): Promise<void> {
  await db.query(eraseOfStatement, [tenantId, id, returnedCredits, reinstatedAmount])
}

const forgetStatement = statement<{ id: string }>(
  'checkouts-forget',
  // The conditions of the index, which leaves out license keys that are not redeemed yet and payments on their way.
  `delete from checkouts
   where (tenant_id, id) in (
     select tenant_id, id from checkouts
     where license_sealed is null and (pending_at is null or paid_at is not null or ended_at is not null)
       and coalesce(paid_at, ended_at, expires_at) <= now() - make_interval(days => $1)
     order by coalesce(paid_at, ended_at, expires_at)
     limit $2
     for update skip locked
   )
   returning id`,
)

/**
 * Deletes up to `limit` checkouts that were settled or abandoned that many days ago; returns how many. The ledger
 * keeps the sales.
 */
export async function forgetCheckouts(db: Db, keptDays: number, limit: number): Promise<number> {
  return (await db.query(forgetStatement, [keptDays, limit])).length
}
