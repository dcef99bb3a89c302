-- concurrently
-- The memos of a tenant, for its deletion.
create index concurrently ledger_transfers_memos on ledger_transfers (tenant_id, id) where memo is not null;
