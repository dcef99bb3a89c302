-- As chain_outbox, which explains everything, where events and deliveries are spread over the nodes of a Citus cluster:
-- each is inserted by a statement of its own that names no other table. Citus copies these rows to their shard and commits
-- in two phases, after its own. numbered_at tells the caller that it may have to wait for these rows. The tenants are of one
-- shard, so that a node that is down fails the numbering of no others. webhook_queues, on the coordinator, has the endpoints
-- that are due.
create or replace function number_spread(
  head_ids text[], lasts bigint[], ends bytea[],
  slots smallint[], positions bigint[], heads integer[], hashes bytea,
  out given bigint, out queued bigint
)
language plpgsql
-- A plan from when a partition was empty would scan it whole.
set enable_seqscan = off
as $$
declare
  ready text[];
  queued_at timestamptz;
  expected bigint;
  tenants text[];
  sequences bigint[];
  ids text[];
  types text[];
  contents json[];
  times timestamptz[];
  openings boolean[];
  links bytea[];
  befores bytea[];
  queue_tenants text[];
  queue_endpoints text[];
  queue_sequences bigint[];
  queue_ids text[];
begin
  insert into event_heads (tenant_id)
  select t.id from unnest(head_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  select array_agg(f.tenant_id) into ready
  from (
    select h.tenant_id from event_heads h join unnest(head_ids, lasts) as e (id, last) on e.id = h.tenant_id
    where h.last_sequence = e.last order by h.tenant_id for no key update of h skip locked
  ) f;
  if ready is null then
    given := 0;
    queued := 0;
    return;
  end if;
  queued_at := date_trunc('milliseconds', clock_timestamp());

  with waiting as materialized (
    select e.tenant_id, w.slot, w.position,
      e.last + row_number() over tenant as sequence,
      substring(hashes from (w.nth::integer - 1) * 32 + 1 for 32) as hash,
      case row_number() over tenant when 1 then e.hash else substring(hashes from (w.nth::integer - 2) * 32 + 1 for 32) end as hash_before
    from unnest(slots, positions, heads) with ordinality as w (slot, position, head, nth)
    join unnest(head_ids, lasts, ends) with ordinality as e (tenant_id, last, hash, head) on e.head = w.head
    where e.tenant_id = any (ready)
    window tenant as (partition by w.head order by w.nth)
  ), found as materialized (
    -- A join would be planned for the few rows that the outbox had when it was last vacuumed: as a scan of the whole index,
    -- which has an entry for each event since. A limit leaves only a look-up for each event.
    select w.*, x.place
    from waiting w
    cross join lateral (
      select o.ctid as place from event_outbox o
      where o.slot = w.slot and o.tenant_id = w.tenant_id and o.position = w.position limit 1
    ) x
  ), taken as (
    -- A ctid names a row in each partition. The slot selects the partition.
    delete from event_outbox o
    using found w
    where o.slot = w.slot and o.ctid = w.place
    returning o.tenant_id, w.sequence, o.id, o.type, o.data, o.created_at, o.was_open, w.hash, w.hash_before
  ), moved as (
    update event_heads h set last_sequence = n.sequence, chain_sequence = n.sequence, chain_hash = n.hash, numbered_at = now()
    from (select distinct on (w.tenant_id) w.tenant_id, w.sequence, w.hash from waiting w order by w.tenant_id, w.sequence desc) n
    where h.tenant_id = n.tenant_id
  ), wanted as (
    select n.tenant_id, 'default' as endpoint_id, n.sequence, n.id
    from taken n
    join webhooks w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    union all
    select n.tenant_id, w.endpoint_id, n.sequence, n.id
    from taken n
    join webhook_endpoints w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
  ), queue as (
    select array_agg(w.tenant_id) as tenants, array_agg(w.endpoint_id) as endpoints, array_agg(w.sequence) as sequences, array_agg(w.id) as ids
    from wanted w
  )
  select (select count(*) from waiting), queue.tenants, queue.endpoints, queue.sequences, queue.ids, t.*
  into expected, queue_tenants, queue_endpoints, queue_sequences, queue_ids,
    tenants, sequences, ids, types, contents, times, openings, links, befores
  from queue cross join (
    select array_agg(t.tenant_id), array_agg(t.sequence), array_agg(t.id), array_agg(t.type), array_agg(t.data), array_agg(t.created_at),
      array_agg(
        case
          when t.type in ('item.created', 'item.updated') and t.data->>'access' = 'open' and (t.data->>'approved')::boolean
            and not (t.data->>'archived')::boolean then true
          when t.was_open then false
        end
      ), array_agg(t.hash), array_agg(t.hash_before)
    from taken t
  ) t;
  given := coalesce(cardinality(tenants), 0);
  queued := coalesce(cardinality(queue_ids), 0);

  -- The tenant is being deleted. Numbers without an event would be a gap. The caller reads again, as after a lock.
  if given <> expected then
    raise exception 'events of the outbox are gone' using errcode = 'lock_not_available';
  end if;

  insert into events (tenant_id, sequence, id, type, data, created_at, open_item, hash, hash_before)
  select * from unnest(tenants, sequences, ids, types, contents, times, openings, links, befores);

  if queued = 0 then
    return;
  end if;
  -- The slot as a value, because a node has no sequence.
  insert into webhook_deliveries (tenant_id, sequence, id, next_attempt_at, slot)
  select q.tenant_id, q.sequence, q.id, queued_at, coalesce(pg_sequence_last_value('webhook_deliveries_slot'), 0)
  from unnest(queue_tenants, queue_endpoints, queue_sequences, queue_ids) as q (tenant_id, endpoint_id, sequence, id)
  where q.endpoint_id = 'default';
  if exists (select from unnest(queue_endpoints) as q (id) where q.id <> 'default') then
    insert into webhook_endpoint_deliveries (tenant_id, endpoint_id, sequence, id, next_attempt_at, slot)
    select q.tenant_id, q.endpoint_id, q.sequence, q.id, queued_at, coalesce(pg_sequence_last_value('webhook_endpoint_deliveries_slot'), 0)
    from unnest(queue_tenants, queue_endpoints, queue_sequences, queue_ids) as q (tenant_id, endpoint_id, sequence, id)
    where q.endpoint_id <> 'default';
  end if;

  -- An endpoint that is due already stays so while this transaction holds the head: see settleQueue.
  insert into webhook_queues as q (tenant_id, endpoint_id, due_at)
  select distinct n.tenant_id, n.endpoint_id, queued_at
  from unnest(queue_tenants, queue_endpoints) as n (tenant_id, endpoint_id)
  where not exists (
    select from webhook_queues d where d.tenant_id = n.tenant_id and d.endpoint_id = n.endpoint_id and d.due_at <= queued_at
  )
  order by 1, 2
  on conflict on constraint webhook_queues_pkey do update set due_at = excluded.due_at;
end
$$;
