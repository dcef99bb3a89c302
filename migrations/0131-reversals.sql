-- What was returned of a payment (purpose: its checkout), and what the account that has its credits owes for it.
-- reversed: the credits of the returned parts. lost: those of them that the account did not have; the loss account of
-- the seller counts them. recovered: the part of lost that came back since. The account owes lost - recovered.
-- unrecorded: credits of parts that an earlier release reversed, which kept no row. What was lost then stays a loss.
create table ledger_reversals (
  seller text collate "C" not null,
  purpose text collate "C" not null,
  tenant_id text collate "C" not null,
  account_id text collate "C" not null,
  reversed bigint not null,
  lost bigint not null,
  recovered bigint not null default 0,
  unrecorded bigint not null,
  created_at timestamptz(3) not null default now(),
  constraint ledger_reversals_pkey primary key (seller, purpose),
  constraint ledger_reversals_recovered_fits check (recovered between 0 and lost),
  constraint ledger_reversals_owed_fits check (lost - recovered <= reversed),
  constraint ledger_reversals_unrecorded_not_negative check (unrecorded >= 0)
);

-- What an account owes is read when credits return to it.
create index ledger_reversals_owed on ledger_reversals (tenant_id, account_id) where lost > recovered;

-- The part of disputed_amount that came back, because the dispute was won.
alter table checkouts add column reinstated_amount bigint not null default 0;
