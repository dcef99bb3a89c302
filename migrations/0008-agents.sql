-- Agents, and what people thought of them.
-- seq numbers all agents in the order of their registration: a list sorted by it never moves an agent, so that pages neither repeat nor
-- skip what was there all along. status_before is what an operator's hold took an agent out of, and what lifting it brings back. The
-- ratings are summed up on the agent in the transaction that adds one: the catalog counts nothing. Room is left on the page, so that
-- a new sum stays on it (HOT).
create table agents (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity,
  name text not null,
  description text not null,
  instructions text not null,
  model json,
  endpoint text,
  tools json not null,
  tool_secrets bytea,
  signing_secret bytea,
  price_credits bigint not null,
  max_minutes integer not null,
  greeting text,
  avatar_url text,
  status text not null default 'draft',
  status_before text,
  rating_sum bigint not null default 0,
  rating_count bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint agents_pkey primary key (tenant_id, id),
  constraint agents_seq_unique unique (tenant_id, seq),
  constraint agents_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint agents_model_or_endpoint check (model is null or endpoint is null),
  constraint agents_price_not_negative check (price_credits >= 0),
  constraint agents_minutes_positive check (max_minutes > 0),
  constraint agents_status_known check (status in ('draft', 'active', 'private', 'suspended', 'pending')),
  constraint agents_status_before_known check (status_before in ('draft', 'active', 'private')),
  constraint agents_held_has_before check ((status in ('suspended', 'pending')) = (status_before is not null))
) with (fillfactor = 85);

-- A launch by another tenant knows the id alone.
create index agents_id on agents (id);

-- The catalog reads active agents of all tenants in their order.
create index agents_catalog on agents (seq) where status = 'active';

-- tenant_id is the agent's, not the rater's. A session is with one agent: one rating a session.
create table agent_ratings (
  tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  session_id text collate "C" not null,
  stars smallint not null,
  created_at timestamptz(3) not null default now(),
  constraint agent_ratings_pkey primary key (tenant_id, agent_id, session_id),
  constraint agent_ratings_agent_exists foreign key (tenant_id, agent_id) references agents (tenant_id, id),
  constraint agent_ratings_stars_known check (stars between 1 and 5)
);
