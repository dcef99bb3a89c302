-- Refunds and disputes of the payment provider. payment: the provider's id of the payment, by which it names both.
-- paid_amount and the two amounts after it are in the currency's smallest unit, returned_credits in credits.
alter table checkouts
  add column payment text collate "C",
  add column paid_amount bigint,
  add column refunded_amount bigint not null default 0,
  add column disputed_amount bigint not null default 0,
  add column returned_credits bigint not null default 0;

-- refund: credits that were taken back. loss: credits of a refund that were spent already; the loss account counts them.
alter table ledger_transfers drop constraint ledger_transfers_kind_known, add constraint ledger_transfers_kind_known
  check (kind in ('prefund', 'sale', 'redemption', 'grant', 'return', 'fee', 'hold', 'capture', 'release', 'refund', 'loss')) not valid;
alter table ledger_accounts drop constraint ledger_accounts_kind_known, add constraint ledger_accounts_kind_known
  check (kind in ('platform', 'issuer', 'revenue', 'wallet', 'coupon', 'license', 'held', 'loss')) not valid;
