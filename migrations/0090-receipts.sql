-- Receipts: one for each settled session, painting, grant and sale, written by triggers of the ledger in the transaction
-- of the settlement. So no process, whatever its release, settles without one. A receipt never changes; it is signed
-- when it is read.

-- purpose: what a sale paid for, its checkout. joined_at: when the agent of a session joined.
alter table ledger_transfers add column purpose text collate "C";
alter table ledger_hold_ends add column joined_at timestamptz(3);

-- tenant_id: on whose behalf the credits moved. ledger_id: the hold or transfer, at the home of the payer. code_hash:
-- SHA-256 of the code that paid or, of a grant, of the coupon.
create table receipts (
  tenant_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  kind text not null,
  subject text collate "C" not null,
  price bigint not null,
  charged bigint not null,
  payer_tenant_id text collate "C" not null,
  payer_id text collate "C" not null,
  ledger_id text collate "C" not null,
  code_hash bytea,
  held_at timestamptz(3),
  joined_at timestamptz(3),
  stopped_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint receipts_pkey primary key (tenant_id, seq),
  constraint receipts_charged_fits check (charged between 0 and price)
);

create index receipts_newest on receipts (tenant_id, created_at, id);
create index receipts_of_payer on receipts (payer_tenant_id, payer_id, created_at, id);

create table receipt_numbers (
  tenant_id text collate "C" not null,
  last bigint not null,
  constraint receipt_numbers_pkey primary key (tenant_id)
) with (fillfactor = 70);

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

-- A receipt for each hold of a session or painting that ended, whether it was charged or not.
create or replace function receipt_hold_ends() returns trigger
language plpgsql
as $$
declare
  made receipts[];
begin
  select array_agg(row(
      h.actor, null, 'rct_' || substr(h.id, 5), case left(h.purpose, 4) when 'ses_' then 'session' else 'paint' end, h.purpose,
      h.amount, e.captured, h.tenant_id, h.account_id, h.id, a.code_hash, h.created_at, e.joined_at,
      case left(h.purpose, 4) when 'ses_' then e.ended_at end, e.ended_at
    )::receipts) into made
  from added e
  join ledger_holds h on h.tenant_id = e.tenant_id and h.id = e.id
  join ledger_accounts a on a.tenant_id = h.tenant_id and a.id = h.account_id
  where left(h.purpose, 4) in ('ses_', 'art_');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$$;

-- A receipt for each grant and each sale. A process of the release before writes no purpose.
create or replace function receipt_transfers() returns trigger
language plpgsql
as $$
declare
  made receipts[];
begin
  select array_agg(row(
      t.actor, null, 'rct_' || substr(t.id, 5), case t.kind when 'grant' then 'grant' else 'checkout' end, coalesce(t.purpose, t.id),
      t.amount, t.amount, t.tenant_id, t.from_id, t.id, case t.kind when 'grant' then o.code_hash end, null, null, null, t.created_at
    )::receipts) into made
  from added t
  join ledger_accounts o on o.tenant_id = t.to_tenant_id and o.id = t.to_id
  where t.kind in ('grant', 'prefund', 'sale');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$$;

create trigger ledger_hold_ends_receipts after insert on ledger_hold_ends
  referencing new table as added for each statement execute function receipt_hold_ends();
create trigger ledger_transfers_receipts after insert on ledger_transfers
  referencing new table as added for each statement execute function receipt_transfers();
create trigger receipts_stay before update or delete or truncate on receipts
  for each statement execute function refuse_ledger_change();
