-- Events and their delivery.
--
-- A cause writes its event into the outbox, in its own transaction and without a number: nobody waits for anybody there. Afterwards
-- number_events moves what is committed into the log and numbers it, tenant by tenant under the lock of the tenant's head. So a cause that
-- rolled back leaves no gap, and what has a number never changes.

-- position is in the order in which rows were written, so that what one cause did after another one is numbered after it.
create table event_outbox (
  tenant_id text collate "C" not null,
  position bigint generated always as identity,
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  constraint event_outbox_pkey primary key (tenant_id, position)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table events (
  tenant_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamptz(3) not null,
  constraint events_pkey primary key (tenant_id, sequence)
);

-- Rows come in the order of their times: a block range index finds the old ones and costs an insert next to nothing.
create index events_created_at on events using brin (created_at) with (pages_per_range = 32);

-- The last number that was given. It stays when old events go, so that none is given twice.
create table event_heads (
  tenant_id text collate "C" not null,
  last_sequence bigint not null default 0,
  constraint event_heads_pkey primary key (tenant_id)
) with (fillfactor = 50);

-- Where a tenant's events are sent, and how that goes. events null: all types. failures: tries that failed since the last one that did not.
-- While resume_at lies ahead nothing is sent. One worker at a time sends to an endpoint: the one that holds the lease.
create table webhooks (
  tenant_id text collate "C" not null,
  url text not null,
  events text[],
  enabled boolean not null,
  failures integer not null default 0,
  failing_since timestamptz(3),
  resume_at timestamptz(3),
  lease_owner text collate "C",
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint webhooks_pkey primary key (tenant_id),
  constraint webhooks_tenant_exists foreign key (tenant_id) references tenants (id)
) with (fillfactor = 50);

-- signs_until null: the current one. An old one signs too until then.
create table webhook_secrets (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  sealed bytea not null,
  signs_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint webhook_secrets_pkey primary key (tenant_id, id),
  constraint webhook_secrets_webhook_exists foreign key (tenant_id) references webhooks (tenant_id)
);

create unique index webhook_secrets_one_current on webhook_secrets (tenant_id) where signs_until is null;

-- id is the event's. tries counts since it was queued, attempts all of them: sending again starts a new round of tries.
create table webhook_deliveries (
  tenant_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  status text not null default 'pending',
  tries integer not null default 0,
  attempts integer not null default 0,
  response_status integer,
  error text,
  created_at timestamptz(3) not null default now(),
  last_attempt_at timestamptz(3),
  next_attempt_at timestamptz(3),
  constraint webhook_deliveries_pkey primary key (tenant_id, sequence),
  constraint webhook_deliveries_id_unique unique (tenant_id, id),
  constraint webhook_deliveries_status_known check (status in ('pending', 'succeeded', 'failed')),
  constraint webhook_deliveries_pending_is_due check ((status = 'pending') = (next_attempt_at is not null))
);

-- The queue: by tenant, what is due first.
create index webhook_deliveries_due on webhook_deliveries (tenant_id, next_attempt_at, sequence) where status = 'pending';

-- Numbers what these tenants have in the outbox, up to so many each, and queues it for their webhooks; says how many got a number.
--
-- The heads are locked in one order everywhere. The statement after that has a snapshot of its own, newer than the locks: it sees what the
-- last one who held them has numbered, and all that was committed until then. Times are cut to milliseconds: rounded up, what is queued
-- now would not be due yet.
create function number_events(tenant_ids text[], max_each integer) returns bigint
language plpgsql
as $$
declare
  queued_at timestamptz;
  given bigint;
  queued bigint;
begin
  -- What another one is numbering just now still shows here, until that has committed: this then waits for it below.
  if not exists (select from event_outbox o where o.tenant_id = any (tenant_ids)) then
    return 0;
  end if;

  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  perform from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update;
  queued_at := date_trunc('milliseconds', clock_timestamp());

  with taken as (
    -- By their places in the table: nobody changes rows here, and only who holds the head takes them.
    delete from event_outbox o
    where o.ctid = any (array(
      select n.place
      from unnest(tenant_ids) as t (id)
      cross join lateral (
        select x.ctid as place from event_outbox x where x.tenant_id = t.id order by x.position limit max_each
      ) n
    ))
    returning o.tenant_id, o.position, o.id, o.type, o.data, o.created_at
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at)
    select t.tenant_id, h.last_sequence + row_number() over (partition by t.tenant_id order by t.position), t.id, t.type, t.data, t.created_at
    from taken t
    join event_heads h on h.tenant_id = t.tenant_id
    returning tenant_id, sequence, id, type
  ), moved as (
    update event_heads h set last_sequence = n.last
    from (select tenant_id, max(sequence) as last from numbered group by tenant_id) n
    where h.tenant_id = n.tenant_id
  ), queue as (
    insert into webhook_deliveries (tenant_id, sequence, id, next_attempt_at)
    select n.tenant_id, n.sequence, n.id, queued_at
    from numbered n
    join webhooks w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  )
  select (select count(*) from numbered), (select count(*) from queue) into given, queued;

  if queued > 0 then
    perform pg_notify('atrium_events', '');
  end if;
  return given;
end
$$;

-- Keys about to expire: 1 the week's notice was given, 2 the day's.
alter table api_keys add column expiry_notices smallint not null default 0;

create index api_keys_expiring on api_keys (expires_at) where revoked_at is null and expiry_notices < 2;

-- As in 0003, which explains it; each added item leaves its event in the outbox. The event's id is made of the item's, which is as random and
-- as unique: so the batch needs no further parameter.
create or replace function add_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (outcome text)
language plpgsql
as $$
begin
  perform from collections c
    where (c.tenant_id, c.id) in (select * from unnest(tenant_ids, collection_ids))
    order by c.tenant_id, c.id
    for no key update;

  return query
  with input as (
    select * from unnest(tenant_ids, collection_ids, ids, types, contents, authors, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, content, author, scope, key_hash, body_hash, answer, expires_at, ord)
  ), target as (
    select c.tenant_id, c.id, c.state, c.last_seq
    from collections c
    where (c.tenant_id, c.id) in (select i.tenant_id, i.collection_id from input i)
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer, i.expires_at
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    where i.scope is not null and t.state = 'open'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, t.last_seq + row_number() over (partition by i.tenant_id, i.collection_id order by i.ord) as seq
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where t.state = 'open' and (i.scope is null or k.scope is not null)
  ), inserted as (
    insert into items (tenant_id, collection_id, id, seq, type, content, author)
    select a.tenant_id, a.collection_id, a.id, a.seq, a.type, a.content, a.author from accepted a
  ), told as (
    insert into event_outbox (tenant_id, id, type, data)
    select a.tenant_id, 'evt_' || substr(a.id, 5), 'item.created', json_build_object('collection_id', a.collection_id, 'item_id', a.id,
      'type', a.type, 'approved', true, 'archived', false, 'hero', false, 'access', 'owner')
    from accepted a
    order by a.ord
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from (select tenant_id, collection_id, count(*) as added from accepted group by tenant_id, collection_id) a
    where c.tenant_id = a.tenant_id and c.id = a.collection_id
  )
  select case
      when t.id is null then 'not_found'
      when a.ord is not null then 'added'
      when t.state <> 'open' then 'not_open'
      else 'claim_taken'
    end
  from input i
  left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$$;
