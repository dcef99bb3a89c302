-- The books: accounts, and transfers between two of them. A transfer is never changed and never deleted; a balance is nothing but the sum
-- of its transfers, kept beside them by the store itself. Whoever writes around the code meets the same rules.

-- platform counts the credits in circulation: it grows by what leaves it. code_hash: SHA-256 of the code that spends a wallet, coupon or
-- license. What a coupon still holds when it expires goes back to its origin.
create table ledger_accounts (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  balance bigint not null default 0,
  code_hash bytea,
  origin_tenant_id text collate "C",
  origin_id text collate "C",
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint ledger_accounts_pkey primary key (tenant_id, id),
  constraint ledger_accounts_kind_known
    check (kind in ('platform', 'issuer', 'revenue', 'wallet', 'coupon', 'license', 'held')),
  constraint ledger_accounts_balance_not_negative check (balance >= 0),
  constraint ledger_accounts_balance_exact check (balance <= 9007199254740991),
  constraint ledger_accounts_code_of_bearer check ((code_hash is not null) = (kind in ('wallet', 'coupon', 'license'))),
  constraint ledger_accounts_coupon_has_origin check ((origin_tenant_id is not null and origin_id is not null) = (kind = 'coupon')),
  constraint ledger_accounts_coupons_expire check (expires_at is null or kind = 'coupon')
) with (fillfactor = 70);

create unique index ledger_accounts_code on ledger_accounts (code_hash) where code_hash is not null;

-- tenant_id is the home of the debited account. The id derives from the cause, so that the same cause cannot move credits twice.
-- actor: the tenant whose call it was.
create table ledger_transfers (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  from_id text collate "C" not null,
  to_tenant_id text collate "C" not null,
  to_id text collate "C" not null,
  amount bigint not null,
  actor text collate "C" not null,
  memo text,
  created_at timestamptz(3) not null default now(),
  constraint ledger_transfers_pkey primary key (tenant_id, id),
  constraint ledger_transfers_kind_known
    check (kind in ('prefund', 'sale', 'redemption', 'grant', 'return', 'fee', 'hold', 'capture', 'release')),
  constraint ledger_transfers_amount_positive check (amount > 0),
  constraint ledger_transfers_two_accounts check ((tenant_id, from_id) <> (to_tenant_id, to_id))
);

-- What a tenant spent in a period, for its usage report.
create index ledger_transfers_spent on ledger_transfers (actor, created_at) where kind in ('capture', 'fee');

-- Credits set aside out of an account. What was set aside lies in the account's `held` sibling until the hold ends.
create table ledger_holds (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  account_id text collate "C" not null,
  amount bigint not null,
  actor text collate "C" not null,
  purpose text not null,
  ends_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  constraint ledger_holds_pkey primary key (tenant_id, id),
  constraint ledger_holds_amount_positive check (amount > 0)
);

-- A hold ends once: there is room for one row.
create table ledger_hold_ends (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  outcome text not null,
  captured bigint not null,
  ended_at timestamptz(3) not null default now(),
  constraint ledger_hold_ends_pkey primary key (tenant_id, id),
  constraint ledger_hold_ends_hold_exists foreign key (tenant_id, id) references ledger_holds (tenant_id, id),
  constraint ledger_hold_ends_outcome_known check (outcome in ('captured', 'released', 'expired')),
  constraint ledger_hold_ends_captured_fits check (captured >= 0 and (captured > 0) = (outcome = 'captured'))
);

-- The wallet code of a redemption, sealed to the key that its caller brought: a lost answer loses no money.
create table ledger_recoveries (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  thumbprint text collate "C" not null,
  sealed_code text collate "C" not null,
  constraint ledger_recoveries_pkey primary key (tenant_id, id)
);

-- What the sweeper has to look at, and when: holds that nobody ended, and coupons that expire. The one table here whose rows go.
create table ledger_due (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  due_at timestamptz(3) not null,
  constraint ledger_due_pkey primary key (tenant_id, id)
);

create index ledger_due_due_at on ledger_due (due_at);

create function refuse_ledger_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the books are only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;

create trigger ledger_transfers_stay before update or delete or truncate on ledger_transfers
  for each statement execute function refuse_ledger_change();
create trigger ledger_holds_stay before update or delete or truncate on ledger_holds
  for each statement execute function refuse_ledger_change();
create trigger ledger_hold_ends_stay before update or delete or truncate on ledger_hold_ends
  for each statement execute function refuse_ledger_change();
create trigger ledger_recoveries_stay before update or delete or truncate on ledger_recoveries
  for each statement execute function refuse_ledger_change();
create trigger ledger_accounts_stay before delete or truncate on ledger_accounts
  for each statement execute function refuse_ledger_change();
-- At depth 0 it is not apply_transfers that updates.
create trigger ledger_accounts_move_by_transfer before update on ledger_accounts
  for each row when (pg_trigger_depth() = 0) execute function refuse_ledger_change();
create trigger ledger_accounts_begin_empty before insert on ledger_accounts
  for each row when (new.balance <> 0) execute function refuse_ledger_change();

-- Moves the balances with the transfers that were added. Once a statement and account, however many transfers there were.
create function apply_transfers() returns trigger
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

create trigger ledger_transfers_apply after insert on ledger_transfers
  referencing new table as added for each statement execute function apply_transfers();

-- What a batch of movements must know before it is decided, read under lock. Standing accounts (those with a kind given) are made where
-- they are missing, before anything is locked; the locks are taken in one order everywhere, so that two batches cannot wait for each
-- other; and what is read is read by a statement of its own, whose snapshot is newer than the locks.
create function open_movements(
  account_tenants text[], account_ids text[], account_kinds text[], movement_tenants text[], movement_ids text[]
) returns table (what text, tenant_id text, id text, amount bigint, over boolean)
language plpgsql
as $$
begin
  insert into ledger_accounts as a (tenant_id, id, kind)
  select w.tenant_id, w.id, w.kind
  from unnest(account_tenants, account_ids, account_kinds) as w (tenant_id, id, kind)
  where w.kind is not null
    and not exists (select from ledger_accounts e where e.tenant_id = w.tenant_id and e.id = w.id)
  order by w.tenant_id, w.id
  on conflict do nothing;

  perform from ledger_accounts a
    where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
    order by a.tenant_id, a.id
    for no key update;

  return query
  select 'account', a.tenant_id, a.id, a.balance, coalesce(a.expires_at <= now(), false)
  from ledger_accounts a
  where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
  union all
  select 'transfer', t.tenant_id, t.id, t.amount, false
  from ledger_transfers t
  where (t.tenant_id, t.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'hold', h.tenant_id, h.id, h.amount, e.id is not null
  from ledger_holds h
  left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
  where (h.tenant_id, h.id) in (select * from unnest(movement_tenants, movement_ids));
end
$$;
