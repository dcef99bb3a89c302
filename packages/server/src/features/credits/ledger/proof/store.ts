import { statement, type Db, type Tx } from '#db/database.ts'
import type { Finding } from '../audit.ts'

/**
 * Rows younger than this are looked at in every step and settled in none: a row bears the time at which its transaction began, and what began
 * earlier may still commit. No transaction of ours lasts half as long.
 */
const unsettledMinutes = 2
const graceMinutes = 5

export interface Proof {
  provedThrough: string
  fullAt: string
  provedAt: string
  isFullDue: boolean
  afterTenantId: string
  afterId: string
  findings: number
  credits: number
}

interface ProofRow {
  proved_through: string
  full_at: string
  proved_at: string
  is_full_due: boolean
  after_tenant_id: string
  after_id: string
  findings: number
  credits: number
}

const findStatement = statement<ProofRow>(
  'ledger-proof-find',
  // In the future: a clock was set back.
  `select proved_through, full_at, proved_at, full_at < now() - make_interval(hours => $1::int) or proved_through > now() as is_full_due,
     after_tenant_id, after_id, findings, credits
   from ledger_proof where name = 'books'`,
)

/** Where the audit stands; undefined: nothing was proved yet. */
export async function findProof(db: Db, fullEveryHours: number): Promise<Proof | undefined> {
  const [row] = await db.query(findStatement, [fullEveryHours])
  if (!row) return undefined
  const { proved_through: provedThrough, full_at: fullAt, proved_at: provedAt, is_full_due: isFullDue, ...rest } = row
  const { after_tenant_id: afterTenantId, after_id: afterId, findings, credits } = rest
  return { provedThrough, fullAt, provedAt, isFullDue, afterTenantId, afterId, findings, credits }
}

/** What moved each account, and each account's open holds, from $1 on, and up to $2 where that is given. */
const freshSums = `
  fresh as materialized (
    select tenant_id, from_id, to_tenant_id, to_id, amount from ledger_transfers
    where created_at >= $1 and ($2::timestamptz is null or created_at < $2)
  ), legs as (
    select tenant_id, from_id as id, -amount as moved, 0 as held from fresh
    union all
    select to_tenant_id, to_id, amount, 0 from fresh
    union all
    select tenant_id, account_id || '.held', 0, amount from ledger_holds
    where created_at >= $1 and ($2::timestamptz is null or created_at < $2)
    union all
    select h.tenant_id, h.account_id || '.held', 0, -h.amount
    from ledger_hold_ends e
    join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
    where e.ended_at >= $1 and ($2::timestamptz is null or e.ended_at < $2)
  ), sums as (
    select tenant_id, id, sum(moved)::bigint as moved, sum(held)::bigint as held from legs group by 1, 2
  )`

const stepStatement = statement<Finding>(
  'ledger-proof-step',
  // One statement, so that all of it sees one moment of the books. The accounts that moved, and a stretch of those that did not.
  `with ${freshSums}, stretch as (
     select tenant_id, id from ledger_accounts where (tenant_id, id) > ($3, $4) order by tenant_id, id limit $5
   ), looked as (
     select tenant_id, id from sums union select tenant_id, id from stretch
   ), compared as (
     select l.tenant_id, l.id, a.kind, a.balance,
       coalesce(p.moved, 0) + coalesce(s.moved, 0) as moved, coalesce(p.held, 0) + coalesce(s.held, 0) as held
     from looked l
     left join ledger_accounts a on a.tenant_id = l.tenant_id and a.id = l.id
     left join ledger_proved p on p.tenant_id = l.tenant_id and p.id = l.id
     left join sums s on s.tenant_id = l.tenant_id and s.id = l.id
   )
   select 'balance is the sum of its rows' as rule, tenant_id || '/' || id as subject,
     'balance ' || coalesce(balance::text, 'missing') || ', rows ' || moved as detail
   from compared where balance is null or balance <> moved * case when kind = 'platform' then -1 else 1 end
   union all
   select 'nothing is below zero', tenant_id || '/' || id, 'balance ' || balance from compared where balance < 0
   union all
   select 'held is the sum of open holds', tenant_id || '/' || id, 'held ' || balance || ', open holds ' || held
   from compared where (kind = 'held' or held <> 0) and balance <> held
   union all
   select 'no hold captured more than it held', h.tenant_id || '/' || h.id, 'held ' || h.amount || ', captured ' || e.captured
   from ledger_hold_ends e
   join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
   where e.ended_at >= $1 and e.captured > h.amount
   union all
   (select 'no hold or coupon is past its end', tenant_id || '/' || id, 'was due at ' || due_at
    from ledger_due where due_at < now() - make_interval(mins => ${graceMinutes}) order by due_at limit 100)
   limit 1000`,
)

/** Compares what moved since the proved point, and the next `stretch` accounts, with the proved sums. */
export async function findDifferences(db: Db, { provedThrough, afterTenantId, afterId }: Proof, stretch: number) {
  return db.query(stepStatement, [provedThrough, null, afterTenantId, afterId, stretch])
}

const lockStatement = statement<{ until: string }>(
  'ledger-proof-lock',
  `select greatest(proved_through, now() - make_interval(mins => ${unsettledMinutes}))::timestamptz(3) as until
   from ledger_proof where name = 'books' and proved_through = $1 for update`,
)

const settleStatement = statement<never>(
  'ledger-proof-settle',
  `with ${freshSums}
   insert into ledger_proved as p (tenant_id, id, moved, held) select tenant_id, id, moved, held from sums
   on conflict on constraint ledger_proved_pkey do update set moved = p.moved + excluded.moved, held = p.held + excluded.held`,
)

const advanceStatement = statement<never>(
  'ledger-proof-advance',
  // Past the last account it begins with the first one again.
  `with last as (
     select max(array[tenant_id, id]) as at, count(*) as found from (
       select tenant_id, id from ledger_accounts where (tenant_id, id) > ($2, $3) order by tenant_id, id limit $4
     ) s
   )
   update ledger_proof set proved_through = $1, proved_at = now(), findings = 0, credits = coalesce(
       (select balance from ledger_accounts where tenant_id = 'platform' and id = 'platform'), 0),
     after_tenant_id = case when last.found < $4 then '' else last.at[1] end,
     after_id = case when last.found < $4 then '' else last.at[2] end
   from last
   where name = 'books'`,
)

/** Adds what a step has found right to the proved sums. Nothing at all where another process did so meanwhile. */
export async function settle(tx: Tx, { provedThrough, afterTenantId, afterId }: Proof, stretch: number): Promise<void> {
  const [row] = await tx.query(lockStatement, [provedThrough])
  if (!row) return
  await tx.query(settleStatement, [provedThrough, row.until])
  await tx.query(advanceStatement, [row.until, afterTenantId, afterId, stretch])
}

const beginStatement = statement<{ until: string }>(
  'ledger-proof-begin',
  `insert into ledger_proof as p (proved_through, full_at, proved_at, findings, credits)
   values (now() - make_interval(mins => ${unsettledMinutes}), now(), now(), $1, $2)
   on conflict on constraint ledger_proof_pkey do update
     set proved_through = excluded.proved_through, full_at = now(), proved_at = now(), findings = $1, credits = $2
   returning proved_through as until`,
)

const renewStatement = statement<never>(
  'ledger-proof-renew',
  `with ${freshSums}
   insert into ledger_proved as p (tenant_id, id, moved, held) select tenant_id, id, moved, held from sums
   on conflict on constraint ledger_proved_pkey do update set moved = excluded.moved, held = excluded.held
     where (p.moved, p.held) <> (excluded.moved, excluded.held)`,
)

/** After a full proof: makes all sums anew. */
export async function beginAnew(tx: Tx, { findings, credits }: { findings: number; credits: number }): Promise<void> {
  const [row] = await tx.query(beginStatement, [findings, credits])
  await tx.query(renewStatement, ['-infinity', row!.until])
}
