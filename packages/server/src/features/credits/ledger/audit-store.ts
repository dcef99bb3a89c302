import { type Database, type Db, statement } from '#db/database.ts'

/** A violation of a rule of the books. */
export interface Finding {
  rule: string
  /** The account or hold, as `tenant/id`. */
  subject: string
  detail: string
}

export interface AuditReport {
  accounts: number
  transfers: number
  /** Credits in circulation. */
  credits: number
  findings: Finding[]
}

/** The time that the sweeper has to settle a hold or coupon past its end, before that counts as a violation. */
export const graceMinutes = 5

const books = `with legs as (
     select tenant_id, from_id as id, sum(-amount) as delta from ledger_transfers group by 1, 2
     union all
     select to_tenant_id, to_id, sum(amount) from ledger_transfers group by 1, 2
   ), sums as (
     select tenant_id, id, sum(delta) as delta from legs group by 1, 2
   ), open_holds as (
     select h.*
     from ledger_holds h
     left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
     where e.id is null
   ), settled as (
     select h.tenant_id, h.id, h.actor, e.captured as charged, e.ended_at as at
     from ledger_hold_ends e
     join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
     where left(h.purpose, 4) in ('ses_', 'art_')
     union all
     select tenant_id, id, actor, amount, created_at from ledger_transfers
     where kind in ('grant', 'prefund', 'sale', 'refund', 'loss')
   ), returned as (
     select actor as seller, purpose,
       coalesce(sum(case from_id when 'platform' then -amount else amount end) filter (where kind = 'refund'), 0) as taken,
       coalesce(sum(amount) filter (where kind = 'loss' and from_id = 'platform'), 0) as lost,
       coalesce(sum(amount) filter (where kind = 'loss' and from_id = 'loss'), 0) as recovered,
       bool_or(kind = 'refund' and from_id = 'platform') as is_reinstated
     from ledger_transfers
     where kind in ('refund', 'loss') and purpose is not null
     group by 1, 2
   )`

const rules = [
  `select 'balance is the sum of its rows' as rule, coalesce(a.tenant_id, s.tenant_id) || '/' || coalesce(a.id, s.id) as subject,
     'balance ' || coalesce(a.balance::text, 'missing') || ', rows ' || coalesce(s.delta, 0) as detail
   from ledger_accounts a
   full join sums s on s.tenant_id = a.tenant_id and s.id = a.id
   where a.id is null or a.balance <> coalesce(s.delta, 0) * case when a.kind = 'platform' then -1 else 1 end`,
  `select 'nothing is below zero' as rule, tenant_id || '/' || id as subject, 'balance ' || balance as detail
   from ledger_accounts where balance < 0`,
  `select 'debits equal credits' as rule, 'platform/platform' as subject,
     'in circulation ' || issued || ', held by accounts ' || owned as detail
   from (
     select coalesce(sum(balance) filter (where kind = 'platform'), 0) as issued,
       coalesce(sum(balance) filter (where kind <> 'platform'), 0) as owned
     from ledger_accounts
   ) t
   where issued <> owned`,
  `select 'held is the sum of open holds' as rule,
     coalesce(a.tenant_id, h.tenant_id) || '/' || coalesce(a.id, h.account_id || '.held') as subject,
     'held ' || coalesce(a.balance, 0) || ', open holds ' || coalesce(h.amount, 0) as detail
   from (select * from ledger_accounts where kind = 'held') a
   full join (select tenant_id, account_id, sum(amount) as amount from open_holds group by 1, 2) h
     on h.tenant_id = a.tenant_id and h.account_id || '.held' = a.id
   where coalesce(a.balance, 0) <> coalesce(h.amount, 0)`,
  `select 'no hold is past its end' as rule, tenant_id || '/' || id as subject, 'ended at ' || ends_at as detail
   from open_holds where ends_at < now() - make_interval(mins => ${graceMinutes})`,
  `select 'no expired coupon holds credits' as rule, tenant_id || '/' || id as subject,
     'balance ' || balance || ', expired at ' || expires_at as detail
   from ledger_accounts where expires_at < now() - make_interval(mins => ${graceMinutes}) and balance > 0`,
  `select 'no hold captured more than it held' as rule, h.tenant_id || '/' || h.id as subject,
     'held ' || h.amount || ', captured ' || e.captured as detail
   from ledger_hold_ends e
   join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
   where e.captured > h.amount`,
  `select 'receipts sum to the ledger' as rule, coalesce(s.tenant_id, r.payer_tenant_id) || '/' || coalesce(s.id, r.ledger_id) as subject,
     'settled ' || coalesce(s.charged::text, 'nothing') || ', receipt ' || coalesce(r.charged::text, 'missing') as detail
   from settled s
   full join receipts r on r.payer_tenant_id = s.tenant_id and r.ledger_id = s.id
   where s.id is null or r.charged <> s.charged or r.tenant_id <> s.actor
     -- What was settled before there were receipts has none.
     or r.id is null and s.at > (select min(created_at) + interval '2 minutes' from receipts)`,
  `select 'returned payments are taken back once' as rule,
     coalesce(r.seller, t.seller) || '/' || coalesce(r.purpose, t.purpose) as subject,
     'recorded: ' || coalesce(r.reversed || ' returned, ' || r.lost || ' lost, ' || r.recovered || ' recovered', 'nothing')
       || '; moved: ' || coalesce(t.taken || ' taken, ' || t.lost || ' lost, ' || t.recovered || ' recovered', 'nothing') as detail
   from ledger_reversals r
   full join returned t on t.seller = r.seller and t.purpose = r.purpose
   -- A checkout is forgotten after a time.
   left join checkouts c on c.tenant_id = t.seller and c.id = t.purpose
   where t.seller is null or t.taken + t.lost - t.recovered <> c.returned_credits
     -- What an earlier release reversed has no record, or is more than the record.
     or r.seller is null and (t.recovered > 0 or t.is_reinstated)
     or r.recovered <> t.recovered or r.lost > t.lost or r.reversed + r.unrecorded > t.taken + t.lost - t.recovered
     or r.reversed = t.taken + t.lost - t.recovered and r.lost <> t.lost`,
  `select 'receipt numbers have no gap' as rule, tenant_id as subject,
     'last ' || coalesce(n.last, 0) || ', ' || coalesce(r.count, 0) || ' receipts' as detail
   from receipt_numbers n
   full join (select tenant_id, count(*) as count, max(seq) as last from receipts group by 1) r using (tenant_id)
   where n.last is distinct from r.last or n.last is distinct from r.count`,
]

/** How many rules an audit checks. */
export const auditRuleCount = rules.length

const maxFindings = 1_000

// One statement for all rules, so that all see the same snapshot of the books.
const auditStatement = statement<Finding>('ledger-audit', `${books} ${rules.join(' union all ')} limit ${maxFindings}`)

const countStatement = statement<Omit<AuditReport, 'findings'>>(
  'ledger-audit-counts',
  `select (select count(*) from ledger_accounts) as accounts, (select count(*) from ledger_transfers) as transfers,
     (select coalesce(sum(case kind when 'platform' then balance else -balance end), 0)::bigint
      from ledger_accounts where kind in ('platform', 'loss')) as credits`,
)

/** Checks every rule on the whole books. Reads every transfer. */
export async function auditLedger(db: Db): Promise<AuditReport> {
  const findings = await db.query(auditStatement, [])
  const [counts = { accounts: 0, transfers: 0, credits: 0 }] = await db.query(countStatement, [])
  return { ...counts, findings }
}

const snapshotStatement = statement<never>('ledger-audit-snapshot', 'set transaction isolation level repeatable read, read only')
const ruleStatements = rules.map((rule, i) =>
  statement<Finding>(`ledger-audit-rule-${i}`, `${books} ${rule} limit ${maxFindings}`),
)

/**
 * As auditLedger, rule by rule in one transaction, whose statements see the same snapshot. `onChecked` is called with
 * the number of rules after each; what it writes, another connection writes.
 */
export async function auditLedgerByRule(
  db: Pick<Database, 'transactionOnce'>,
  onChecked: (rules: number) => Promise<void>,
): Promise<AuditReport> {
  return db.transactionOnce(async (tx) => {
    await tx.query(snapshotStatement, [])
    const [counts = { accounts: 0, transfers: 0, credits: 0 }] = await tx.query(countStatement, [])
    const findings: Finding[] = []
    for (const [i, rule] of ruleStatements.entries()) {
      findings.push(...(await tx.query(rule, [])))
      await onChecked(i + 1)
    }
    return { ...counts, findings: findings.slice(0, maxFindings) }
  })
}
