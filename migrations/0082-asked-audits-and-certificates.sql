-- Audits of the books that operators asked for, with their result.
create table ledger_audits (
  id text collate "C" not null,
  state text not null default 'queued',
  rules_checked integer not null default 0,
  accounts bigint,
  transfers bigint,
  credits bigint,
  findings json not null default '[]',
  finding_count integer not null default 0,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  constraint ledger_audits_pkey primary key (id),
  constraint ledger_audits_state_known check (state in ('queued', 'running', 'done', 'failed'))
);

-- One at a time: an audit reads every transfer.
create unique index ledger_audits_one_open on ledger_audits ((true)) where state in ('queued', 'running');

-- The certificates that the Space service of this installation has answered with.
create table space_certificates (
  digest text collate "C" not null,
  signed text not null,
  key_thumbprint text not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  constraint space_certificates_pkey primary key (digest)
);
