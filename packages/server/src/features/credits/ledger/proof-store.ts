import { type Db, type Tx, statement } from '#db/database.ts'
import { type Finding, graceMinutes } from './audit-store.ts'

/**
 * Every step checks the rows younger than this, and no step adds them to the proved sums: the time of a row is the
 * start of its transaction, and a transaction that started earlier may still commit. No transaction lasts half as
 * long.
 */
const unsettledMinutes = 2

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

interface Row {
  proved_through: string
  full_at: string
  proved_at: string
  is_full_due: boolean
  after_tenant_id: string
  after_id: string
  findings: number
  credits: number
}

const columns = 'proved_through, full_at, proved_at, after_tenant_id, after_id, findings, credits'

function toProof(row: Row): Proof {
  return {
    provedThrough: row.proved_through,
    fullAt: row.full_at,
    provedAt: row.proved_at,
    isFullDue: row.is_full_due,
    afterTenantId: row.after_tenant_id,
    afterId: row.after_id,
    findings: row.findings,
    credits: row.credits,
  }
}

const findStatement = statement<Row>(
  'ledger-proof-find',
  // proved_through in the future means that a clock was set back.
  `select ${columns}, full_at < now() - make_interval(hours => $1::int) or proved_through > now() as is_full_due
   from ledger_proof where name = 'books'`,
)

/** The state of the proof; undefined: no step has run yet. */
export async function findProof(db: Db, fullEveryHours: number): Promise<Proof | undefined> {
  const [row] = await db.query(findStatement, [fullEveryHours])
  return row && toProof(row)
}

/** The sum of each account's transfers, and of its open holds, from $1 on, and up to $2 if given. */
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
  // One statement, so that all rules see the same snapshot of the books. It checks the accounts that moved, and a
  // stretch of the others.
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

/** Compares the accounts that moved since the proved point, and the next `stretch` accounts, with the proved sums. */
export async function findDifferences(db: Db, { provedThrough, afterTenantId, afterId }: Proof, stretch: number) {
  return db.query(stepStatement, [provedThrough, null, afterTenantId, afterId, stretch])
}

const lockStatement = statement<{ until: string }>(
  'ledger-proof-lock',
  `select greatest(proved_through, now() - make_interval(mins => ${unsettledMinutes}))::timestamptz(3) as until
   from ledger_proof where name = 'books' and proved_through = $1 for update`,
)

const addStatement = statement<never>(
  'ledger-proof-add',
  `with ${freshSums}
   insert into ledger_proved as p (tenant_id, id, moved, held) select tenant_id, id, moved, held from sums
   on conflict on constraint ledger_proved_pkey do update set moved = p.moved + excluded.moved, held = p.held + excluded.held`,
)

const advanceStatement = statement<never>(
  'ledger-proof-advance',
  // After the last account the next step starts with the first one again.
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

/** Adds what a step has checked to the proved sums; nothing if another process has done so since. */
export async function addProvedSums(tx: Tx, { provedThrough, afterTenantId, afterId }: Proof, stretch: number): Promise<void> {
  const [row] = await tx.query(lockStatement, [provedThrough])
  if (!row) return
  await tx.query(addStatement, [provedThrough, row.until])
  await tx.query(advanceStatement, [row.until, afterTenantId, afterId, stretch])
}

const resetStatement = statement<{ until: string }>(
  'ledger-proof-reset',
  `insert into ledger_proof as p (proved_through, full_at, proved_at, findings, credits)
   values (now() - make_interval(mins => ${unsettledMinutes}), now(), now(), $1, $2)
   on conflict on constraint ledger_proof_pkey do update
     set proved_through = excluded.proved_through, full_at = now(), proved_at = now(), findings = $1, credits = $2
   returning proved_through as until`,
)

const recomputeStatement = statement<never>(
  'ledger-proof-recompute',
  `with ${freshSums}
   insert into ledger_proved as p (tenant_id, id, moved, held) select tenant_id, id, moved, held from sums
   on conflict on constraint ledger_proved_pkey do update set moved = excluded.moved, held = excluded.held
     where (p.moved, p.held) <> (excluded.moved, excluded.held)`,
)

/** Recomputes all proved sums, after a full audit. */
export async function resetProvedSums(tx: Tx, { findings, credits }: { findings: number; credits: number }): Promise<void> {
  const [row] = await tx.query(resetStatement, [findings, credits])
  if (row) await tx.query(recomputeStatement, ['-infinity', row.until])
}
