import { statement, type Db } from '#db/database.ts'

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

// One statement for all rules, so that all see the same snapshot of the books.
const auditStatement = statement<{ rule: string; subject: string; detail: string }>(
  'ledger-audit',
  `with legs as (
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
   )
   select 'balance is the sum of its rows' as rule, coalesce(a.tenant_id, s.tenant_id) || '/' || coalesce(a.id, s.id) as subject,
     'balance ' || coalesce(a.balance::text, 'missing') || ', rows ' || coalesce(s.delta, 0) as detail
   from ledger_accounts a
   full join sums s on s.tenant_id = a.tenant_id and s.id = a.id
   where a.id is null or a.balance <> coalesce(s.delta, 0) * case when a.kind = 'platform' then -1 else 1 end
   union all
   select 'nothing is below zero', tenant_id || '/' || id, 'balance ' || balance from ledger_accounts where balance < 0
   union all
   select 'debits equal credits', 'platform/platform', 'in circulation ' || issued || ', held by accounts ' || owned
   from (
     select coalesce(sum(balance) filter (where kind = 'platform'), 0) as issued,
       coalesce(sum(balance) filter (where kind <> 'platform'), 0) as owned
     from ledger_accounts
   ) t
   where issued <> owned
   union all
   select 'held is the sum of open holds', coalesce(a.tenant_id, h.tenant_id) || '/' || coalesce(a.id, h.account_id || '.held'),
     'held ' || coalesce(a.balance, 0) || ', open holds ' || coalesce(h.amount, 0)
   from (select * from ledger_accounts where kind = 'held') a
   full join (select tenant_id, account_id, sum(amount) as amount from open_holds group by 1, 2) h
     on h.tenant_id = a.tenant_id and h.account_id || '.held' = a.id
   where coalesce(a.balance, 0) <> coalesce(h.amount, 0)
   union all
   select 'no hold is past its end', tenant_id || '/' || id, 'ended at ' || ends_at
   from open_holds where ends_at < now() - make_interval(mins => $1::int)
   union all
   select 'no expired coupon holds credits', tenant_id || '/' || id, 'balance ' || balance || ', expired at ' || expires_at
   from ledger_accounts where expires_at < now() - make_interval(mins => $1::int) and balance > 0
   union all
   select 'no hold captured more than it held', h.tenant_id || '/' || h.id, 'held ' || h.amount || ', captured ' || e.captured
   from ledger_hold_ends e
   join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
   where e.captured > h.amount
   limit 1000`,
)

const countStatement = statement<Omit<AuditReport, 'findings'>>(
  'ledger-audit-counts',
  `select (select count(*) from ledger_accounts) as accounts, (select count(*) from ledger_transfers) as transfers,
     coalesce((select balance from ledger_accounts where tenant_id = 'platform' and id = 'platform'), 0) as credits`,
)

/** Checks every rule on the whole books. Reads every transfer. */
export async function auditLedger(db: Db): Promise<AuditReport> {
  const findings = await db.query(auditStatement, [graceMinutes])
  const [counts = { accounts: 0, transfers: 0, credits: 0 }] = await db.query(countStatement, [])
  return { ...counts, findings }
}
