-- Numbers receipts and writes them. The numbers of a tenant have no gap, because its counter is locked until the
-- settlement commits. The counters are locked in one order, after the accounts.
create or replace function add_receipts(made receipts[]) returns void
language sql
as $$
  with counted as (
    insert into receipt_numbers as n (tenant_id, last)
    select m.tenant_id, count(*) from unnest(made) m group by m.tenant_id order by m.tenant_id
    on conflict on constraint receipt_numbers_pkey do update set last = n.last + excluded.last
    returning n.tenant_id, n.last
  )
  insert into receipts (
    tenant_id, seq, id, kind, subject, price, charged, payer_tenant_id, payer_id, ledger_id, code_hash, held_at, joined_at, stopped_at,
    created_at
  )
  select m.tenant_id, c.last + 1 - row_number() over (partition by m.tenant_id order by m.ledger_id desc), m.id, m.kind, m.subject,
    m.price, m.charged, m.payer_tenant_id, m.payer_id, m.ledger_id, m.code_hash, m.held_at, m.joined_at, m.stopped_at, m.created_at
  from unnest(made) m
  join counted c on c.tenant_id = m.tenant_id
$$;
