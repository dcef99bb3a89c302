-- Applies the added transfers to the balances: one update per account and statement, however many transfers there
-- were.
create or replace function apply_transfers() returns trigger
language plpgsql
as $$
declare
  named bigint;
  moved bigint;
begin
  with net as (
    select l.tenant_id, l.id, sum(l.delta)::bigint as delta
    from (
      select a.tenant_id, a.from_id as id, -a.amount as delta from added a
      union all
      select a.to_tenant_id, a.to_id, a.amount from added a
    ) l
    group by l.tenant_id, l.id
  ), updated as (
    update ledger_accounts a
    set balance = a.balance + case when a.kind = 'platform' then -n.delta else n.delta end
    from net n
    where a.tenant_id = n.tenant_id and a.id = n.id
    returning 1
  )
  select (select count(*) from net), (select count(*) from updated) into named, moved;
  if named <> moved then
    raise exception 'a transfer names an account that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end
$$;
