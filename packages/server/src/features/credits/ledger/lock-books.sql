-- Reads, under lock, the state on which a batch of movements is decided. Standing accounts (those with a kind) that
-- are missing are created before anything is locked. All transactions take the locks in one order, so that two
-- batches cannot deadlock. The state is read by a separate statement, whose snapshot is newer than the locks.
--
-- Accounts of the platform are locked last: nearly every tenant pays into them or is paid from them, so a
-- transaction that waits for another row must not hold them meanwhile.
--
-- debtor_tenants and debtor_ids: the accounts to which credits return. What one of them owes for returned payments
-- is paid from these credits, which also moves credits of the platform and of the seller's loss account. Only then
-- are these locked, too.
--
-- waits false, for batches: accounts that another transaction has locked are skipped and returned as `locked`. A
-- batch has movements of many tenants, and must not wait for the row of one.
create or replace function lock_books(
  account_tenants text[], account_ids text[], account_kinds text[], movement_tenants text[], movement_ids text[],
  debtor_tenants text[], debtor_ids text[], waits boolean
) returns table (what text, tenant_id text, id text, amount bigint, over boolean, seller text, purpose text)
language plpgsql
-- A plan from when nothing had been returned would scan all of ledger_reversals. So would a join with it: each account
-- is looked up.
set enable_seqscan = off
as $$
declare
  tenants text[] := account_tenants;
  ids text[] := account_ids;
  sellers text[] := '{}';
  locked_sellers text[];
  -- In the form of accountKey.
  free_keys text[];
begin
  insert into ledger_accounts as a (tenant_id, id, kind)
  select w.tenant_id, w.id, w.kind
  from unnest(account_tenants, account_ids, account_kinds) as w (tenant_id, id, kind)
  where w.kind is not null
    and not exists (select from ledger_accounts e where e.tenant_id = w.tenant_id and e.id = w.id)
  order by w.tenant_id, w.id
  on conflict do nothing;

  loop
    if cardinality(debtor_ids) > 0 then
      select coalesce(array_agg(distinct r.seller), '{}') into sellers
      from unnest(debtor_tenants, debtor_ids) as d (tenant_id, id)
      cross join lateral (
        select o.seller from ledger_reversals o
        where o.tenant_id = d.tenant_id and o.account_id = d.id and o.lost > o.recovered offset 0
      ) r;
    end if;
    -- Once the accounts are locked, nothing adds to what they owe. A refund may have done so before, while this
    -- transaction waited: then there is one more round. It locks the rest out of order. If another transaction waits
    -- for this one meanwhile, the lock timeout ends one of them, and it runs again.
    exit when sellers <@ locked_sellers;
    locked_sellers := sellers;
    if cardinality(sellers) > 0 then
      tenants := account_tenants || sellers || array['platform'];
      ids := account_ids || array_fill('loss'::text, array[cardinality(sellers)]) || array['platform'];
    end if;

    if waits then
      perform from ledger_accounts a
        where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
        order by a.tenant_id = 'platform', a.tenant_id, a.id
        for no key update;
    else
      select array_agg(f.key) into free_keys
      from (
        select a.tenant_id || '/' || a.id as key from ledger_accounts a
        where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
        order by a.tenant_id = 'platform', a.tenant_id, a.id
        for no key update skip locked
      ) f;
    end if;
  end loop;

  if cardinality(sellers) = 0 then
    debtor_tenants := '{}';
    debtor_ids := '{}';
  end if;
  return query
  select case when waits or f.key is not null then 'account' else 'locked' end, a.tenant_id, a.id, a.balance,
    coalesce(a.expires_at <= now(), false), '', ''
  from ledger_accounts a
  left join unnest(free_keys) as f (key) on f.key = a.tenant_id || '/' || a.id
  where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
  union all
  select 'transfer', t.tenant_id, t.id, t.amount, false, '', ''
  from ledger_transfers t
  where (t.tenant_id, t.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'hold', h.tenant_id, h.id, h.amount, e.id is not null, '', ''
  from ledger_holds h
  left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
  where (h.tenant_id, h.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'debt', d.tenant_id, d.id, r.owed, false, r.seller, r.purpose
  from unnest(debtor_tenants, debtor_ids) as d (tenant_id, id)
  cross join lateral (
    select o.lost - o.recovered as owed, o.seller, o.purpose from ledger_reversals o
    where o.tenant_id = d.tenant_id and o.account_id = d.id and o.lost > o.recovered offset 0
  ) r;
end
$$;
