-- Reads both tables without blocking writes.
alter table ledger_transfers validate constraint ledger_transfers_kind_known;
alter table ledger_accounts validate constraint ledger_accounts_kind_known;
