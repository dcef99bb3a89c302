-- The lists of a tenant's sessions, checkouts and movements, newest first.
create index sessions_newest on sessions (tenant_id, created_at, id);
create index checkouts_newest on checkouts (tenant_id, created_at, id);

-- A movement is listed by the tenant whose account it leaves, and where it comes from another tenant's, by the one whose account it reaches.
-- What agents and services earn was issued by somebody else.
create index ledger_transfers_newest on ledger_transfers (tenant_id, created_at, id);
create index ledger_transfers_received on ledger_transfers (to_tenant_id, created_at, id)
  where tenant_id <> to_tenant_id and to_id <> 'revenue';
