-- Numbers what these tenants have in the outbox, up to so many each, and queues it for their webhooks; says how many got a number.
--
-- open_item is what an event means for those who see open items alone: true, the item is open now; false, it no longer is; null, nothing.
--
-- The heads are locked in one order everywhere. The statement after that has a snapshot of its own, newer than the locks: it sees what the
-- last one who held them has numbered, and all that was committed until then. Times are cut to milliseconds: rounded up, what is queued
-- now would not be due yet.
create or replace function number_events(tenant_ids text[], max_each integer) returns bigint
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
    returning o.tenant_id, o.position, o.id, o.type, o.data, o.created_at, o.was_open
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at, open_item)
    select t.tenant_id, h.last_sequence + row_number() over (partition by t.tenant_id order by t.position), t.id, t.type, t.data, t.created_at,
      case
        when t.type in ('item.created', 'item.updated') and t.data->>'access' = 'open' and (t.data->>'approved')::boolean
          and not (t.data->>'archived')::boolean then true
        when t.was_open then false
      end
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
