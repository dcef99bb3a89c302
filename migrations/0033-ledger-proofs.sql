-- How far the books are proved. The rows of the ledger are never changed and never deleted, so what was added up once need not be added up
-- again: ledger_proved holds the sums of each account's transfers (and, of a held account, of its open holds) up to proved_through, and a
-- step of the audit adds what came since. A full proof, from the first row on, makes them anew every day and whenever a step finds
-- something. BRIN serves here, as nothing is ever deleted from these tables: their rows stay in the order in which they came.
create table ledger_proved (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  moved bigint not null,
  held bigint not null,
  constraint ledger_proved_pkey primary key (tenant_id, id)
) with (fillfactor = 70);

-- One row, which is also the result of the last step. after_tenant_id, after_id: where the next step goes on with the accounts that
-- nothing moved.
create table ledger_proof (
  name text collate "C" not null default 'books',
  proved_through timestamptz(3) not null,
  full_at timestamptz(3) not null,
  proved_at timestamptz(3) not null,
  after_tenant_id text collate "C" not null default '',
  after_id text collate "C" not null default '',
  findings integer not null,
  credits bigint not null,
  constraint ledger_proof_pkey primary key (name)
);

create index ledger_transfers_created_at on ledger_transfers using brin (created_at) with (pages_per_range = 32, autosummarize = on);
create index ledger_holds_created_at on ledger_holds using brin (created_at) with (pages_per_range = 32, autosummarize = on);
create index ledger_hold_ends_ended_at on ledger_hold_ends using brin (ended_at) with (pages_per_range = 32, autosummarize = on);
