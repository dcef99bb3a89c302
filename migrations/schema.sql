-- What the migrations make, written by scripts/schema-dump.ts. Not edited by hand: change it with a new migration.

-- A function may name a table that comes after it.
set check_function_bodies = off;

create sequence event_outbox_positions as bigint start with 1 increment by 1 minvalue 1 maxvalue 9223372036854775807 cache 1;

create sequence event_outbox_slot as smallint start with 0 increment by 1 minvalue 0 maxvalue 2 cache 1;

create sequence request_log_chunks_slot as smallint start with 0 increment by 1 minvalue 0 maxvalue 4 cache 1;

create sequence request_log_slot as smallint start with 0 increment by 1 minvalue 0 maxvalue 4 cache 1;

create sequence webhook_deliveries_slot as smallint start with 0 increment by 1 minvalue 0 maxvalue 4 cache 1;

create sequence webhook_endpoint_deliveries_slot as smallint start with 0 increment by 1 minvalue 0 maxvalue 4 cache 1;

CREATE OR REPLACE FUNCTION public.add_checked_items(tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], token_hashes bytea[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(outcome text)
 LANGUAGE plpgsql
AS $function$
declare
  outcomes text[];
  seqs bigint[];
  accesses text[];
begin
  select array_agg(p.outcome order by p.place), array_agg(p.seq order by p.place), array_agg(p.access order by p.place)
  into outcomes, seqs, accesses
  from place_checked_items(
    tenant_ids, collection_ids, ids, types, token_hashes, scopes, key_hashes, body_hashes, answers, expiries
  ) p;

  insert into items (tenant_id, collection_id, id, seq, type, content, author, access)
  select i.tenant_id, i.collection_id, i.id, i.seq, i.type, i.content, i.author, i.access
  from unnest(tenant_ids, collection_ids, ids, seqs, types, contents, authors, accesses)
    as i (tenant_id, collection_id, id, seq, type, content, author, access)
  where i.seq is not null;

  return query select unnest(outcomes);
end
$function$
;

CREATE OR REPLACE FUNCTION public.add_counted_items(tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(outcome text)
 LANGUAGE sql
AS $function$
  select outcome from add_checked_items(
    tenant_ids, collection_ids, ids, types, contents, authors, array_fill(null::bytea, array[cardinality(ids)]),
    scopes, key_hashes, body_hashes, answers, expiries
  )
$function$
;

CREATE OR REPLACE FUNCTION public.add_items(tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(outcome text)
 LANGUAGE plpgsql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.append_lines(rooms_ text[], from_counts integer[], from_etags text[], counts integer[], etags text[], sizes bigint[], policy_seqs integer[], policy_hashes text[], line_rooms text[], line_seqs integer[], lines text[], dedupes text[])
 RETURNS TABLE(room text, dedupe text, seq integer)
 LANGUAGE plpgsql
AS $function$
begin
  perform from rooms r where r.room = any (rooms_) order by r.room for no key update;

  return query
  with input as (
    select * from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
  ), line as (
    select * from unnest(line_rooms, line_seqs, lines, dedupes) as n (room, seq, line, dedupe)
  ), repeated as (
    select l.room, l.dedupe, l.seq from room_lines l join line n on n.room = l.room and n.dedupe = l.dedupe
  ), moved as (
    update rooms r
    set count = i.count, etag = i.etag, bytes = i.bytes, policy_seq = i.policy_seq, policy_hash = i.policy_hash
    from input i
    where r.room = i.room and r.count = i.from_count and r.etag = i.from_etag
      and not exists (select from repeated d where d.room = r.room)
    returning r.room
  ), written as (
    insert into room_lines (room, seq, line, dedupe)
    select n.room, n.seq, n.line, n.dedupe from line n join moved m on m.room = n.room
  ), told as (
    select m.room, pg_notify('atrium_rooms', m.room) from moved m
  )
  select t.room, null::text, null::int from told t
  union all
  select d.room, d.dedupe, d.seq from repeated d;
end
$function$
;

CREATE OR REPLACE FUNCTION public.append_room_lines(rooms_ text[], from_counts integer[], from_etags text[], counts integer[], etags text[], sizes bigint[], policy_seqs integer[], policy_hashes text[], line_rooms text[], line_seqs integer[], lines text[], dedupes text[])
 RETURNS TABLE(room text, outcome text, dedupe text, seq integer)
 LANGUAGE plpgsql
AS $function$
declare
  free_rooms text[];
  all_free boolean;
begin
  select array_agg(f.room) into free_rooms
  from (select r.room from rooms r where r.room = any (rooms_) order by r.room for no key update skip locked) f;
  all_free := cardinality(free_rooms) = cardinality(rooms_);

  return query
  with input as (
    select i.* from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
    where all_free or i.room = any (free_rooms)
  ), line as (
    select * from unnest(line_rooms, line_seqs, lines, dedupes) as n (room, seq, line, dedupe)
  ), repeated as (
    select l.room, l.dedupe, l.seq from room_lines l join line n on n.room = l.room and n.dedupe = l.dedupe
  ), moved as (
    update rooms r
    set count = i.count, etag = i.etag, bytes = i.bytes, policy_seq = i.policy_seq, policy_hash = i.policy_hash
    from input i
    where r.room = i.room and r.count = i.from_count and r.etag = i.from_etag
      and not exists (select from repeated d where d.room = r.room)
    returning r.room
  ), written as (
    insert into room_lines (room, seq, line, dedupe)
    select n.room, n.seq, n.line, n.dedupe from line n join moved m on m.room = n.room
  )
  select m.room, 'moved', null::text, null::int from moved m
  union all
  select d.room, 'repeated', d.dedupe, d.seq from repeated d
  union all
  select r.room, 'locked', null::text, null::int
  from unnest(rooms_) as u (room) join rooms r on r.room = u.room
  where all_free is not true
    and not exists (select from unnest(free_rooms) as f (room) where f.room = u.room)
    and not exists (select from repeated d where d.room = u.room);
end
$function$
;

CREATE OR REPLACE FUNCTION public.append_shard_lines(shard_ text, rooms_ text[], from_counts integer[], from_etags text[], counts integer[], etags text[], sizes bigint[], policy_seqs integer[], policy_hashes text[], line_rooms text[], line_seqs integer[], lines text[], dedupes text[])
 RETURNS TABLE(room text, outcome text, dedupe text, seq integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  free_rooms text[];
  repeated_rooms text[] := '{}';
  moved_rooms text[];
  repeat record;
begin
  select coalesce(array_agg(f.room), '{}') into free_rooms
  from (select r.room from rooms r where r.room = any (rooms_) order by r.room for no key update skip locked) f;

  for repeat in
    select l.room, l.dedupe, l.seq
    from room_lines l join unnest(line_rooms, dedupes) as n (room, dedupe) on n.room = l.room and n.dedupe = l.dedupe
    -- Both columns of the index, or every line of the rooms would be read.
    where l.room = any (rooms_) and l.dedupe = any (dedupes)
  loop
    repeated_rooms := repeated_rooms || repeat.room;
    return query select repeat.room, 'repeated', repeat.dedupe, repeat.seq;
  end loop;

  with moved as (
    update rooms r
    set count = i.count, etag = i.etag, bytes = i.bytes, policy_seq = i.policy_seq, policy_hash = i.policy_hash
    from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
    where r.room = any (rooms_) and r.room = i.room and r.count = i.from_count and r.etag = i.from_etag
      and i.room = any (free_rooms) and i.room <> all (repeated_rooms)
    returning r.room
  )
  select coalesce(array_agg(m.room), '{}') into moved_rooms from moved m;

  insert into room_lines (room, seq, line, dedupe)
  select n.room, n.seq, n.line, n.dedupe
  from unnest(line_rooms, line_seqs, lines, dedupes) as n (room, seq, line, dedupe)
  where n.room = any (moved_rooms);

  return query select m.room, 'moved', null::text, null::int from unnest(moved_rooms) as m (room);
  if cardinality(free_rooms) < cardinality(rooms_) then
    return query
    select r.room, 'locked', null::text, null::int from rooms r
    where r.room = any (rooms_) and r.room <> all (free_rooms) and r.room <> all (repeated_rooms);
  end if;
end
$function$
;

CREATE OR REPLACE FUNCTION public.apply_transfers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  named bigint;
  moved bigint;
begin
  with net as (
    select l.tenant_id, l.id, sum(l.delta)::bigint as delta
    from (
      select a.tenant_id, a.from_id as id, -a.amount as delta from added a
      union all
      select a.to_tenant_id, a.to_id, a.amount from added a
    ) l
    group by l.tenant_id, l.id
  ), updated as (
    update ledger_accounts a
    set balance = a.balance + case when a.kind = 'platform' then -n.delta else n.delta end
    from net n
    where a.tenant_id = n.tenant_id and a.id = n.id
    returning 1
  )
  select (select count(*) from net), (select count(*) from updated) into named, moved;
  if named <> moved then
    raise exception 'a transfer names an account that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.chain_numbered(tenant text, chained bigint, chained_to bigint, end_hash bytea, sequences bigint[], hashes bytea[], befores bytea[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Waits for another process that does the same, and then finds that it was done.
  update event_heads set chain_sequence = chained_to, chain_hash = end_hash
  where tenant_id = tenant and chain_sequence = chained and last_sequence >= chained_to;
  if not found then
    return;
  end if;
  update events e set hash = w.hash, hash_before = w.hash_before
  from unnest(sequences, hashes, befores) as w (sequence, hash, hash_before)
  where e.tenant_id = tenant and e.sequence = w.sequence;
end
$function$
;

CREATE OR REPLACE FUNCTION public.chain_outbox(head_ids text[], lasts bigint[], ends bytea[], slots smallint[], positions bigint[], heads integer[], hashes bytea, opens boolean[], OUT given bigint, OUT queued bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  ready text[];
  queued_at timestamptz;
  expected bigint;
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
    select e.tenant_id, w.slot, w.position, w.opens,
      e.last + row_number() over tenant as sequence,
      substring(hashes from (w.nth::integer - 1) * 32 + 1 for 32) as hash,
      case row_number() over tenant when 1 then e.hash else substring(hashes from (w.nth::integer - 2) * 32 + 1 for 32) end as hash_before
    from unnest(slots, positions, heads, opens) with ordinality as w (slot, position, head, opens, nth)
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
    returning o.tenant_id, w.sequence, o.id, o.type, o.data, o.created_at, o.was_open, w.opens, w.hash, w.hash_before
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at, open_item, hash, hash_before)
    select t.tenant_id, t.sequence, t.id, t.type, t.data, t.created_at,
      case when t.opens then true when t.was_open then false end,
      t.hash, t.hash_before
    from taken t
    returning tenant_id, sequence, id, type
  ), moved as (
    update event_heads h set last_sequence = n.sequence, chain_sequence = n.sequence, chain_hash = n.hash
    from (select distinct on (w.tenant_id) w.tenant_id, w.sequence, w.hash from waiting w order by w.tenant_id, w.sequence desc) n
    where h.tenant_id = n.tenant_id
  ), queue as (
    insert into webhook_deliveries (tenant_id, sequence, id, next_attempt_at)
    select n.tenant_id, n.sequence, n.id, queued_at
    from numbered n
    join webhooks w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  ), queue_further as (
    insert into webhook_endpoint_deliveries (tenant_id, endpoint_id, sequence, id, next_attempt_at)
    select n.tenant_id, w.endpoint_id, n.sequence, n.id, queued_at
    from numbered n
    join webhook_endpoints w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  )
  select (select count(*) from waiting), (select count(*) from numbered),
    (select count(*) from queue) + (select count(*) from queue_further)
  into expected, given, queued;

  -- The tenant is being deleted. Numbers without an event would be a gap. The caller reads again, as after a lock.
  if given <> expected then
    raise exception 'events of the outbox are gone' using errcode = 'lock_not_available';
  end if;
end
$function$
;

CREATE OR REPLACE FUNCTION public.commit_in_two_phases()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into items select i.* from unnest(array[]::items[]) i;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_removed_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update stored_bytes s set bytes = s.bytes - r.bytes
  from (select tenant_id, sum(bytes)::bigint as bytes from removed where bytes is not null group by tenant_id) r
  where s.tenant_id = r.tenant_id;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_removed_rooms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  freed bigint;
begin
  select coalesce(sum(g.bytes), 0) into freed from gone g;
  if freed > 0 then update space_total set bytes = greatest(0, bytes - freed); end if;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_space_bytes(callers_ text[], bytes_ bigint[], added bigint)
 RETURNS TABLE(caller text, used bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
begin
  -- In one order, in which every batch and make_room lock these rows.
  return query
  insert into space_use as u (starts_at, what, caller, used)
  select date_trunc('day', now(), 'UTC'), 'bytes', c.caller, greatest(0, c.bytes)
  from unnest(callers_, bytes_) as c (caller, bytes) order by c.caller
  on conflict on constraint space_use_pkey do update set used = greatest(0, u.used + excluded.used)
  returning u.caller, u.used;
  if added <> 0 then update space_total set bytes = greatest(0, bytes + added); end if;
  return query select ''::text, t.bytes from space_total t;
end
$function$
;

CREATE OR REPLACE FUNCTION public.count_stored_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  delta bigint := coalesce(new.bytes, 0);
begin
  if tg_op = 'UPDATE' then
    delta := delta - coalesce(old.bytes, 0);
  end if;
  insert into stored_bytes as s (tenant_id, bytes) values (new.tenant_id, delta)
  on conflict on constraint stored_bytes_pkey do update set bytes = s.bytes + excluded.bytes;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.fill_webhook_queues()
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into webhook_queues (tenant_id, endpoint_id, due_at)
  select d.tenant_id, 'default', min(d.next_attempt_at) from webhook_deliveries d where d.status = 'pending' group by d.tenant_id
  union all
  select d.tenant_id, d.endpoint_id, min(d.next_attempt_at) from webhook_endpoint_deliveries d
  where d.status = 'pending' group by d.tenant_id, d.endpoint_id
  on conflict on constraint webhook_queues_pkey do update set due_at = excluded.due_at
$function$
;

CREATE OR REPLACE FUNCTION public.free_room(room_ text, only_unused boolean)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  freed bigint;
begin
  -- Waits for a concurrent append, and sees its lines. The row is locked before the name, as by the trigger.
  select r.bytes into freed from rooms r where r.room = room_ and (r.count = 1 or not only_unused) for update;
  if not found then return null; end if;
  perform lock_room_name(room_);
  insert into removed_rooms (room) values (room_) on conflict on constraint removed_rooms_pkey do nothing;
  update rooms set bytes = 0 where room = room_;
  delete from rooms where room = room_;
  return freed;
end
$function$
;

CREATE OR REPLACE FUNCTION public.keep_removed_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform lock_room_name(old.room);
  insert into removed_rooms (room) values (old.room) on conflict on constraint removed_rooms_pkey do nothing;
  return old;
end
$function$
;

CREATE OR REPLACE FUNCTION public.leave_to_newer_release()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % waits for a process of the new release', lower(tg_op), tg_table_name
    using errcode = 'serialization_failure';
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_books(account_tenants text[], account_ids text[], account_kinds text[], movement_tenants text[], movement_ids text[], debtor_tenants text[], debtor_ids text[], waits boolean)
 RETURNS TABLE(what text, tenant_id text, id text, amount bigint, over boolean, seller text, purpose text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  tenants text[] := account_tenants;
  ids text[] := account_ids;
  sellers text[] := '{}';
  locked_sellers text[];
  -- In the form of accountKey.
  free_keys text[];
begin
  insert into ledger_accounts as a (tenant_id, id, kind)
  select w.tenant_id, w.id, w.kind
  from unnest(account_tenants, account_ids, account_kinds) as w (tenant_id, id, kind)
  where w.kind is not null
    and not exists (select from ledger_accounts e where e.tenant_id = w.tenant_id and e.id = w.id)
  order by w.tenant_id, w.id
  on conflict do nothing;

  loop
    if cardinality(debtor_ids) > 0 then
      select coalesce(array_agg(distinct r.seller), '{}') into sellers
      from unnest(debtor_tenants, debtor_ids) as d (tenant_id, id)
      cross join lateral (
        select o.seller from ledger_reversals o
        where o.tenant_id = d.tenant_id and o.account_id = d.id and o.lost > o.recovered offset 0
      ) r;
    end if;
    -- Once the accounts are locked, nothing adds to what they owe. A refund may have done so before, while this
    -- transaction waited: then there is one more round. It locks the rest out of order. If another transaction waits
    -- for this one meanwhile, the lock timeout ends one of them, and it runs again.
    exit when sellers <@ locked_sellers;
    locked_sellers := sellers;
    if cardinality(sellers) > 0 then
      tenants := account_tenants || sellers || array['platform'];
      ids := account_ids || array_fill('loss'::text, array[cardinality(sellers)]) || array['platform'];
    end if;

    if waits then
      perform from ledger_accounts a
        where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
        order by a.tenant_id = 'platform', a.tenant_id, a.id
        for no key update;
    else
      select array_agg(f.key) into free_keys
      from (
        select a.tenant_id || '/' || a.id as key from ledger_accounts a
        where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
        order by a.tenant_id = 'platform', a.tenant_id, a.id
        for no key update skip locked
      ) f;
    end if;
  end loop;

  if cardinality(sellers) = 0 then
    debtor_tenants := '{}';
    debtor_ids := '{}';
  end if;
  return query
  select case when waits or f.key is not null then 'account' else 'locked' end, a.tenant_id, a.id, a.balance,
    coalesce(a.expires_at <= now(), false), '', ''
  from ledger_accounts a
  left join unnest(free_keys) as f (key) on f.key = a.tenant_id || '/' || a.id
  where (a.tenant_id, a.id) in (select * from unnest(tenants, ids))
  union all
  select 'transfer', t.tenant_id, t.id, t.amount, false, '', ''
  from ledger_transfers t
  where (t.tenant_id, t.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'hold', h.tenant_id, h.id, h.amount, e.id is not null, '', ''
  from ledger_holds h
  left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
  where (h.tenant_id, h.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'debt', d.tenant_id, d.id, r.owed, false, r.seller, r.purpose
  from unnest(debtor_tenants, debtor_ids) as d (tenant_id, id)
  cross join lateral (
    select o.lost - o.recovered as owed, o.seller, o.purpose from ledger_reversals o
    where o.tenant_id = d.tenant_id and o.account_id = d.id and o.lost > o.recovered offset 0
  ) r;
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_movements(account_tenants text[], account_ids text[], account_kinds text[], movement_tenants text[], movement_ids text[], waits boolean)
 RETURNS TABLE(what text, tenant_id text, id text, amount bigint, over boolean)
 LANGUAGE plpgsql
AS $function$
declare
  -- In the form of accountKey.
  free_keys text[];
begin
  insert into ledger_accounts as a (tenant_id, id, kind)
  select w.tenant_id, w.id, w.kind
  from unnest(account_tenants, account_ids, account_kinds) as w (tenant_id, id, kind)
  where w.kind is not null
    and not exists (select from ledger_accounts e where e.tenant_id = w.tenant_id and e.id = w.id)
  order by w.tenant_id, w.id
  on conflict do nothing;

  if waits then
    perform from ledger_accounts a
      where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
      order by a.tenant_id = 'platform', a.tenant_id, a.id
      for no key update;
  else
    select array_agg(f.key) into free_keys
    from (
      select a.tenant_id || '/' || a.id as key from ledger_accounts a
      where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
      order by a.tenant_id = 'platform', a.tenant_id, a.id
      for no key update skip locked
    ) f;
  end if;

  return query
  select case when waits or f.key is not null then 'account' else 'locked' end, a.tenant_id, a.id, a.balance,
    coalesce(a.expires_at <= now(), false)
  from ledger_accounts a
  left join unnest(free_keys) as f (key) on f.key = a.tenant_id || '/' || a.id
  where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
  union all
  select 'transfer', t.tenant_id, t.id, t.amount, false
  from ledger_transfers t
  where (t.tenant_id, t.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'hold', h.tenant_id, h.id, h.amount, e.id is not null
  from ledger_holds h
  left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
  where (h.tenant_id, h.id) in (select * from unnest(movement_tenants, movement_ids));
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_room_name(room_ text)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock(hashtextextended('atrium.room ' || room_, 0))
$function$
;

CREATE OR REPLACE FUNCTION public.make_room(room_ text, etag_ text, bytes_ bigint, line_ text, callers_ text[], allowed_ bigint[])
 RETURNS text
 LANGUAGE sql
AS $function$
  select make_room_with_key(room_, etag_, bytes_, line_, null, callers_, allowed_)
$function$
;

CREATE OR REPLACE FUNCTION public.make_room_with_key(room_ text, etag_ text, bytes_ bigint, line_ text, access_key_ text, callers_ text[], allowed_ bigint[])
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  hour constant timestamptz := date_trunc('hour', now(), 'UTC');
  counted text[] := '{}';
  outcome text := 'made';
begin
  if exists (select from rooms r where r.room = room_) then return 'exists'; end if;
  -- In the given order, the narrow ones first: all transactions lock these rows in one order.
  for i in 1 .. coalesce(array_length(callers_, 1), 0) loop
    insert into space_use as u (starts_at, what, caller, used) values (hour, 'rooms', callers_[i], 1)
    on conflict on constraint space_use_pkey do update set used = u.used + 1 where u.used < allowed_[i];
    if not found then outcome := 'limited'; exit; end if;
    counted := counted || callers_[i];
  end loop;
  if outcome = 'made' then
    -- Another transaction may have created or removed the room since. That is not an error, and nothing is created.
    -- Each statement has a new snapshot: after the name is locked, a remove that held it is visible.
    perform lock_room_name(room_);
    if exists (select from removed_rooms r where r.room = room_) then
      outcome := 'removed';
    else
      insert into rooms (room, count, etag, bytes, policy_seq, policy_hash, access_key)
      values (room_, 1, etag_, bytes_, 0, etag_, access_key_)
      on conflict on constraint rooms_pkey do nothing;
      if not found then outcome := 'exists'; end if;
    end if;
  end if;
  if outcome = 'made' then
    insert into room_lines (room, seq, line) values (room_, 0, line_);
    insert into new_rooms (made_on, room) values ((now() at time zone 'UTC')::date, room_)
    on conflict on constraint new_rooms_pkey do nothing;
  else
    update space_use u set used = u.used - 1 where u.starts_at = hour and u.what = 'rooms' and u.caller = any (counted);
  end if;
  return outcome;
end
$function$
;

CREATE OR REPLACE FUNCTION public.number_events(tenant_ids text[], max_each integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  numbered record;
begin
  select n.given, n.queued into numbered from number_outbox(tenant_ids, max_each) n;
  if numbered.queued > 0 then
    perform pg_notify('atrium_events', '');
  end if;
  return numbered.given;
end
$function$
;

CREATE OR REPLACE FUNCTION public.number_outbox(tenant_ids text[], max_each integer, OUT given bigint, OUT queued bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  queued_at timestamptz;
begin
  -- Events that another process is numbering are still visible here until it commits. The lock below waits for that.
  if not exists (select from event_outbox o where o.tenant_id = any (tenant_ids)) then
    given := 0;
    queued := 0;
    return;
  end if;

  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  perform from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update;
  queued_at := date_trunc('milliseconds', clock_timestamp());

  with waiting as (
    select n.slot, n.tenant_id, n.position
    from unnest(tenant_ids) as t (id)
    cross join lateral (
      select x.slot, x.tenant_id, x.position from event_outbox x where x.tenant_id = t.id order by x.position limit max_each
    ) n
  ), taken as (
    -- Not by ctid, which names a row in each partition. The slot selects the partition.
    delete from event_outbox o
    using waiting w
    where o.slot = w.slot and o.tenant_id = w.tenant_id and o.position = w.position
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
  ), queue_further as (
    insert into webhook_endpoint_deliveries (tenant_id, endpoint_id, sequence, id, next_attempt_at)
    select n.tenant_id, w.endpoint_id, n.sequence, n.id, queued_at
    from numbered n
    join webhook_endpoints w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  )
  select (select count(*) from numbered), (select count(*) from queue) + (select count(*) from queue_further) into given, queued;
end
$function$
;

CREATE OR REPLACE FUNCTION public.number_spread(head_ids text[], lasts bigint[], ends bytea[], slots smallint[], positions bigint[], heads integer[], hashes bytea, OUT given bigint, OUT queued bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.open_movements(account_tenants text[], account_ids text[], account_kinds text[], movement_tenants text[], movement_ids text[])
 RETURNS TABLE(what text, tenant_id text, id text, amount bigint, over boolean)
 LANGUAGE plpgsql
AS $function$
begin
  insert into ledger_accounts as a (tenant_id, id, kind)
  select w.tenant_id, w.id, w.kind
  from unnest(account_tenants, account_ids, account_kinds) as w (tenant_id, id, kind)
  where w.kind is not null
    and not exists (select from ledger_accounts e where e.tenant_id = w.tenant_id and e.id = w.id)
  order by w.tenant_id, w.id
  on conflict do nothing;

  perform from ledger_accounts a
    where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
    order by a.tenant_id, a.id
    for no key update;

  return query
  select 'account', a.tenant_id, a.id, a.balance, coalesce(a.expires_at <= now(), false)
  from ledger_accounts a
  where (a.tenant_id, a.id) in (select * from unnest(account_tenants, account_ids))
  union all
  select 'transfer', t.tenant_id, t.id, t.amount, false
  from ledger_transfers t
  where (t.tenant_id, t.id) in (select * from unnest(movement_tenants, movement_ids))
  union all
  select 'hold', h.tenant_id, h.id, h.amount, e.id is not null
  from ledger_holds h
  left join ledger_hold_ends e on e.tenant_id = h.tenant_id and e.id = h.id
  where (h.tenant_id, h.id) in (select * from unnest(movement_tenants, movement_ids));
end
$function$
;

CREATE OR REPLACE FUNCTION public.place_checked_items(tenant_ids text[], collection_ids text[], ids text[], types text[], token_hashes bytea[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(place bigint, outcome text, seq bigint, access text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  locked_rows tid[];
begin
  select array_agg(f.ctid) into locked_rows
  from (select distinct * from unnest(tenant_ids, collection_ids) order by 1, 2) i (tenant_id, id)
  cross join lateral (
    select c.ctid from collections c
    where c.tenant_id = i.tenant_id and c.id between i.id and i.id
    order by c.id desc limit 1
    for no key update skip locked
  ) f;

  return query
  with target as materialized (
    select f.nth, f.ctid, c.tenant_id, c.id, c.state, c.last_seq, c.item_access,
      c.contributor_policy = 'open' as needs_no_token, c.admin_token_hash, c.contributor_token_hash,
      c.box_recipient is not null as is_box
    from unnest(locked_rows) with ordinality as f (ctid, nth)
    join collections c on c.ctid = f.ctid
  ), input as materialized (
    select i.*, t.nth, t.last_seq, t.item_access,
      case
        when i.token_hash is not null and (t.is_box or not
          (t.needs_no_token or i.token_hash = t.admin_token_hash or coalesce(i.token_hash = t.contributor_token_hash, false)))
          then 'unchecked'
        when t.state <> 'open' then 'not_open'
        when t.state = 'open' then 'added'
        -- There is no locked row.
        when not exists (select from collections c where c.tenant_id = i.tenant_id and c.id = i.collection_id) then 'not_found'
        else 'locked'
      end as outcome
    from unnest(tenant_ids, collection_ids, ids, types, token_hashes, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, token_hash, scope, key_hash, body_hash, answer, expires_at, ord)
    left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer,
      -- As keptUntil of idempotency/store.ts.
      case when i.expires_at < now() + interval '23 hours' then now() + interval '24 hours' else i.expires_at end
    from input i
    where i.scope is not null and i.outcome = 'added'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, i.last_seq + row_number() over (partition by i.nth order by i.ord) as seq
    from input i
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where i.outcome = 'added' and (i.scope is null or k.scope is not null)
  ), told as (
    insert into event_outbox (tenant_id, id, type, data)
    select a.tenant_id, 'evt_' || substr(a.id, 5), 'item.created', json_build_object('collection_id', a.collection_id, 'item_id', a.id,
      'type', a.type, 'approved', true, 'archived', false, 'hero', false, 'access', a.item_access)
    from accepted a
    order by a.ord
  ), total as (
    select a.nth, count(*) as added from accepted a group by a.nth
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from total a join target t on t.nth = a.nth
    where c.ctid = t.ctid
  ), used as (
    -- Only the holder of the collection's row writes this row. Each row counts the items of some 128 seqs, so that it has
    -- few versions: the look-up by its key visits all of them.
    insert into usage_items as u (tenant_id, day, collection_id, part, items)
    select t.tenant_id, (now() at time zone 'UTC')::date, t.id, t.last_seq >> 7, a.added from total a join target t on t.nth = a.nth
    on conflict on constraint usage_items_pkey do update set items = u.items + excluded.items
  )
  select i.ord, case when i.outcome = 'added' and a.ord is null then 'claim_taken' else i.outcome end,
    a.seq, case when a.ord is not null then a.item_access end
  from input i
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$function$
;

CREATE OR REPLACE FUNCTION public.receipt_hold_ends()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  made receipts[];
begin
  select array_agg(row(
      h.actor, null, 'rct_' || substr(h.id, 5), case when h.purpose like 'ses\_%/budget' then 'budget' when h.purpose like 'ses\_%' then 'session' else 'paint' end,
      split_part(h.purpose, '/', 1),
      h.amount, e.captured, h.tenant_id, h.account_id, h.id, a.code_hash, h.created_at, e.joined_at,
      case left(h.purpose, 4) when 'ses_' then e.ended_at end, e.ended_at
    )::receipts) into made
  from added e
  cross join lateral (select * from ledger_holds where tenant_id = e.tenant_id and id = e.id limit 1) h
  cross join lateral (select code_hash from ledger_accounts where tenant_id = h.tenant_id and id = h.account_id limit 1) a
  where left(h.purpose, 4) in ('ses_', 'art_');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.receipt_transfers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  made receipts[];
begin
  select array_agg(row(
      t.actor, null, 'rct_' || substr(t.id, 5),
      case
        when t.kind in ('prefund', 'sale') then 'checkout'
        when t.kind = 'refund' and t.from_id = 'platform' then 'reinstatement'
        when t.kind = 'loss' and t.from_id = 'loss' then 'recovery'
        else t.kind
      end,
      coalesce(t.purpose, t.id),
      t.amount, t.amount, t.tenant_id, t.from_id, t.id, case t.kind when 'grant' then o.code_hash end, null, null, null, t.created_at
    )::receipts) into made
  from added t
  -- Looked up for each row: receipt-hold-ends.sql says why.
  cross join lateral (select code_hash from ledger_accounts where tenant_id = t.to_tenant_id and id = t.to_id limit 1) o
  where t.kind in ('grant', 'prefund', 'sale', 'refund', 'loss');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % is refused: the audit log is only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_epoch_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % is refused: an epoch is set once', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % is refused: the books are only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_removed_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform lock_room_name(new.room);
  if exists (select from removed_rooms r where r.room = new.room) then return null; end if;
  return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_sweep_by_ctid()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION public.remove_agent_card()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.card = null;
  new.card_salt = null;
  return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.remove_audit_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  removed bigint;
begin
  if (new.targets->>'up_to')::timestamptz > now() - interval '30 days' then
    raise exception 'entries of the last 30 days are not removed' using errcode = 'restrict_violation';
  end if;
  delete from audit_log where id = any (array(
    select a.id from audit_log a where a.created_at < (new.targets->>'up_to')::timestamptz order by a.created_at, a.id limit 10000
  ));
  get diagnostics removed = row_count;
  new.targets := new.targets || jsonb_build_object('removed', removed);
  return new;
end
$function$
;

CREATE OR REPLACE FUNCTION public.remove_room(room_ text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  freed constant bigint := free_room(room_, false);
begin
  if freed is null then return false; end if;
  update space_total set bytes = greatest(0, bytes - freed);
  return true;
end
$function$
;

CREATE OR REPLACE FUNCTION public.sweep_space(days_ integer, batch_ integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  due record;
  looked integer := 0;
  freed bigint := 0;
  forgotten integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('atrium.space sweep', 0)) then return null; end if;
  for due in
    select n.made_on, n.room from new_rooms n
    where days_ > 0 and n.made_on < (now() at time zone 'UTC')::date - days_
    order by n.made_on, n.room limit batch_
  loop
    delete from new_rooms n where n.made_on = due.made_on and n.room = due.room;
    freed := freed + coalesce(free_room(due.room, true), 0);
    looked := looked + 1;
  end loop;
  -- Last, because every writer counts in this row.
  if freed > 0 then update space_total set bytes = greatest(0, bytes - freed); end if;
  with old as (
    select u.starts_at, u.what, u.caller from space_use u
    where u.starts_at < now() - interval '2 days' order by u.starts_at, u.what, u.caller limit batch_
  ), taken as (
    delete from space_use u using old o where u.starts_at = o.starts_at and u.what = o.what and u.caller = o.caller returning u.caller
  )
  select count(*) into forgotten from taken;
  return greatest(looked, forgotten);
end
$function$
;

CREATE OR REPLACE FUNCTION public.try_add_items(tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(outcome text)
 LANGUAGE plpgsql
AS $function$
declare
  free_ids text[];
begin
  select array_agg(f.id) into free_ids
  from (
    select c.id from collections c
    where (c.tenant_id, c.id) in (select * from unnest(tenant_ids, collection_ids))
    order by c.tenant_id, c.id
    for no key update skip locked
  ) f;

  return query
  with input as (
    select * from unnest(tenant_ids, collection_ids, ids, types, contents, authors, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, content, author, scope, key_hash, body_hash, answer, expires_at, ord)
  ), target as (
    select c.tenant_id, c.id, c.state, c.last_seq, coalesce(c.id = any (free_ids), false) as is_free
    from collections c
    where (c.tenant_id, c.id) in (select i.tenant_id, i.collection_id from input i)
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer, i.expires_at
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    where i.scope is not null and t.is_free and t.state = 'open'
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
    where t.is_free and t.state = 'open' and (i.scope is null or k.scope is not null)
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
      when not t.is_free then 'locked'
      when a.ord is not null then 'added'
      when t.state <> 'open' then 'not_open'
      else 'claim_taken'
    end
  from input i
  left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$function$
;

CREATE OR REPLACE FUNCTION public.try_append_lines(rooms_ text[], from_counts integer[], from_etags text[], counts integer[], etags text[], sizes bigint[], policy_seqs integer[], policy_hashes text[], line_rooms text[], line_seqs integer[], lines text[], dedupes text[])
 RETURNS TABLE(room text, outcome text, dedupe text, seq integer)
 LANGUAGE plpgsql
AS $function$
begin
  for room, outcome, dedupe, seq in
    select a.room, a.outcome, a.dedupe, a.seq
    from append_room_lines(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes,
      line_rooms, line_seqs, lines, dedupes) a
  loop
    if outcome = 'moved' then
      perform pg_notify('atrium_rooms', room);
    end if;
    return next;
  end loop;
end
$function$
;

CREATE OR REPLACE FUNCTION public.try_number_events(tenant_ids text[], max_each integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  free_ids text[];
begin
  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  select array_agg(f.tenant_id) into free_ids
  from (
    select h.tenant_id from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update skip locked
  ) f;
  -- The heads are locked already, so this does not wait for them again.
  return case when free_ids is null then 0 else number_events(free_ids, max_each) end;
end
$function$
;

CREATE OR REPLACE FUNCTION public.try_number_outbox(tenant_ids text[], max_each integer, OUT given bigint, OUT queued bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  free_ids text[];
begin
  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  select array_agg(f.tenant_id) into free_ids
  from (
    select h.tenant_id from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update skip locked
  ) f;
  -- The heads are locked already, so this does not wait for them again.
  if free_ids is null then
    given := 0;
    queued := 0;
  else
    select n.given, n.queued into given, queued from number_outbox(free_ids, max_each) n;
  end if;
end
$function$
;

CREATE OR REPLACE FUNCTION public.try_write_outcomes(owner text, tenant_ids text[], sequences bigint[], successes boolean[], statuses integer[], errors text[], retries_in_ms double precision[])
 RETURNS TABLE(outcome text)
 LANGUAGE plpgsql
AS $function$
declare
  free_ids text[];
begin
  select array_agg(f.tenant_id) into free_ids
  from (
    select w.tenant_id from webhooks w
    where w.tenant_id = any (tenant_ids) and w.lease_owner = owner
    order by w.tenant_id
    for no key update skip locked
  ) f;

  return query
  with input as (
    select * from unnest(tenant_ids, sequences, successes, statuses, errors, retries_in_ms)
      with ordinality as i (tenant_id, sequence, succeeded, response_status, error, retry_in_ms, ord)
  ), held as (
    select w.tenant_id, w.failing_since, coalesce(w.tenant_id = any (free_ids), false) as is_free
    from webhooks w
    where w.tenant_id = any (tenant_ids) and w.lease_owner = owner
  ), free as (
    select d.slot, d.tenant_id, d.sequence from webhook_deliveries d
    where (d.tenant_id, d.sequence) in (select i.tenant_id, i.sequence from input i join held h on h.tenant_id = i.tenant_id where h.is_free)
    for no key update skip locked
  ), written as (
    update webhook_deliveries d
    set status = case when i.succeeded then 'succeeded' when i.retry_in_ms is null then 'failed' else 'pending' end,
      tries = d.tries + 1, attempts = d.attempts + 1, response_status = i.response_status, error = i.error, last_attempt_at = now(),
      next_attempt_at = case when not i.succeeded then now() + make_interval(secs => i.retry_in_ms / 1000) end
    from input i join free f on f.tenant_id = i.tenant_id and f.sequence = i.sequence
    where d.slot = f.slot and d.tenant_id = f.tenant_id and d.sequence = f.sequence
    returning i.ord, d.tenant_id, i.succeeded
  ), marked as (
    update webhooks w
    set failing_since = case when n.any_succeeded then null else now() end
    from (select o.tenant_id, bool_or(o.succeeded) as any_succeeded from written o group by o.tenant_id) n
    where w.tenant_id = n.tenant_id and n.any_succeeded = (w.failing_since is not null)
  )
  select case
      when o.ord is not null then 'written'
      when h.tenant_id is null then 'lost'
      when not h.is_free then 'locked'
      when exists (select from webhook_deliveries d where d.tenant_id = i.tenant_id and d.sequence = i.sequence) then 'locked'
      else 'lost'
    end
  from input i
  left join held h on h.tenant_id = i.tenant_id
  left join written o on o.ord = i.ord
  order by i.ord;
end
$function$
;

create table agent_ratings (
  tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  session_id text collate "C" not null,
  stars smallint not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint agent_ratings_pkey PRIMARY KEY (tenant_id, agent_id, session_id),
  constraint agent_ratings_stars_known CHECK (((stars >= 1) AND (stars <= 5)))
);

create table agent_versions (
  tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  version bytea not null,
  manifest json not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint agent_versions_pkey PRIMARY KEY (tenant_id, agent_id, version)
);

create table agents (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity not null,
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
  status text default 'draft'::text not null,
  status_before text,
  rating_sum bigint default 0 not null,
  rating_count bigint default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  price_before bigint,
  price_raised_at timestamp(3) with time zone,
  credits_per_1k_tokens bigint default 0 not null,
  credits_per_tool_call bigint default 0 not null,
  card text,
  card_salt text collate "C",
  carded_at timestamp(3) with time zone,
  encryption_key jsonb,
  constraint agents_pkey PRIMARY KEY (tenant_id, id),
  constraint agents_seq_unique UNIQUE (tenant_id, seq),
  constraint agents_held_has_before CHECK (((status = ANY (ARRAY['suspended'::text, 'pending'::text])) = (status_before IS NOT NULL))),
  constraint agents_minutes_positive CHECK ((max_minutes > 0)),
  constraint agents_model_or_endpoint CHECK (((model IS NULL) OR (endpoint IS NULL))),
  constraint agents_price_before_fits CHECK ((((price_before IS NULL) = (price_raised_at IS NULL)) AND (price_before >= 0) AND (price_before < price_credits))),
  constraint agents_price_not_negative CHECK ((price_credits >= 0)),
  constraint agents_status_before_known CHECK ((status_before = ANY (ARRAY['draft'::text, 'active'::text, 'private'::text]))),
  constraint agents_status_known CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'private'::text, 'suspended'::text, 'pending'::text])))
) with (fillfactor=85);

create table api_keys (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  name text,
  hint text not null,
  key_hash bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  expiry_notices smallint default 0 not null,
  replaced_by text collate "C",
  constraint api_keys_pkey PRIMARY KEY (tenant_id, id),
  constraint api_keys_hash_unique UNIQUE (key_hash),
  constraint api_keys_kind_known CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text])))
);

create table artifact_jobs (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  artifact_id text collate "C" not null,
  work text not null,
  input json not null,
  price bigint default 0 not null,
  payer_tenant_id text collate "C",
  payer_id text collate "C",
  from_allowance boolean default false not null,
  tries integer default 0 not null,
  lease_owner text,
  lease_until timestamp(3) with time zone,
  run_at timestamp(3) with time zone default now() not null,
  deadline timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  turn bigint default 0 not null,
  kept_bytes bytea,
  kept_as json,
  constraint artifact_jobs_pkey PRIMARY KEY (tenant_id, collection_id, artifact_id),
  constraint artifact_jobs_work_known CHECK ((work = ANY (ARRAY['paint'::text, 'card'::text, 'clip'::text])))
);

create table artifact_uploads (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  artifact_id text collate "C" not null,
  mime text not null,
  bytes bigint not null,
  sha256 text,
  tries integer default 0 not null,
  lease_owner text collate "C",
  lease_until timestamp(3) with time zone,
  expires_at timestamp(3) with time zone not null,
  address text collate "C",
  constraint artifact_uploads_pkey PRIMARY KEY (tenant_id, collection_id, artifact_id),
  constraint artifact_uploads_bytes_positive CHECK ((bytes > 0))
);

create table artifacts (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity not null,
  kind text not null,
  source text not null,
  url text,
  status text not null,
  stage text not null,
  approved boolean default true not null,
  published boolean default false not null,
  hero boolean default false not null,
  archived boolean default false not null,
  title text,
  alt text,
  width integer,
  height integer,
  mime text,
  bytes bigint,
  sha256 text,
  error json,
  created_at timestamp(3) with time zone default now() not null,
  provider text,
  model text,
  seed bigint,
  access text default 'open'::text not null,
  access_list bytea,
  constraint artifacts_pkey PRIMARY KEY (tenant_id, collection_id, seq),
  constraint artifacts_id_unique UNIQUE (tenant_id, collection_id, id),
  constraint artifacts_access_known CHECK ((access = ANY (ARRAY['owner'::text, 'open'::text, 'email'::text]))),
  constraint artifacts_kind_known CHECK ((kind = ANY (ARRAY['image'::text, 'clip'::text, 'card'::text]))),
  constraint artifacts_source_known CHECK ((source = ANY (ARRAY['url'::text, 'paint'::text, 'produce'::text, 'upload'::text]))),
  constraint artifacts_stage_known CHECK ((stage = ANY (ARRAY['uploading'::text, 'queued'::text, 'running'::text, 'storing'::text, 'done'::text]))),
  constraint artifacts_status_known CHECK ((status = ANY (ARRAY['painting'::text, 'ready'::text, 'failed'::text, 'quota_exceeded'::text])))
);

create table audit_log (
  id text collate "C" not null,
  created_at timestamp(3) with time zone default now() not null,
  tenant_id text collate "C",
  actor_kind text not null,
  actor_id text collate "C",
  actor_name text,
  operation text not null,
  targets jsonb not null,
  outcome text not null,
  code text,
  address text,
  request_id text,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_actor_known CHECK ((actor_kind = ANY (ARRAY['operator'::text, 'member'::text, 'key'::text, 'anyone'::text, 'system'::text]))),
  constraint audit_log_outcome_known CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text]))),
  constraint audit_log_refused_has_code CHECK (((outcome = 'refused'::text) = (code IS NOT NULL)))
);

create table blob_deletion_holds (
  id text collate "C" not null,
  held_until timestamp(3) with time zone not null,
  constraint blob_deletion_holds_pkey PRIMARY KEY (id)
);

create table blob_deletions (
  tenant_id text collate "C" not null,
  target text collate "C" not null,
  due_at timestamp(3) with time zone default now() not null,
  queued_at timestamp(3) with time zone default now() not null,
  constraint blob_deletions_pkey PRIMARY KEY (tenant_id, target)
);

create table blob_folders (
  only_row boolean default true not null,
  id text collate "C" not null,
  recorded_at timestamp(3) with time zone default now() not null,
  constraint blob_folders_pkey PRIMARY KEY (only_row),
  constraint blob_folders_one_row CHECK (only_row)
);

create table blob_search (
  name text default 'orphans'::text not null,
  after_key text collate "C" default ''::text not null,
  due_at timestamp(3) with time zone default now() not null,
  constraint blob_search_pkey PRIMARY KEY (name)
);

create table books_roots (
  day date not null,
  accounts bigint not null,
  total bigint not null,
  root bytea not null,
  made_at timestamp(3) with time zone default now() not null,
  constraint books_roots_pkey PRIMARY KEY (day),
  constraint books_roots_root CHECK ((octet_length(root) = 32))
);

create table books_tiles (
  day date not null,
  level smallint not null,
  tile bigint not null,
  nodes bytea not null,
  salts bytea,
  accounts text[] collate "C",
  first_tenant_id text collate "C",
  first_id text collate "C",
  constraint books_tiles_pkey PRIMARY KEY (day, level, tile),
  constraint books_tiles_nodes CHECK (((octet_length(nodes) >= 40) AND (octet_length(nodes) <= 10240) AND ((octet_length(nodes) % 40) = 0)))
);

create table checkouts (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  purpose text not null,
  credits bigint not null,
  provider text not null,
  reference text collate "C" not null,
  url text not null,
  success_url text not null,
  cancel_url text not null,
  license_sealed bytea,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  pending_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  paid_at timestamp(3) with time zone,
  license_account text collate "C",
  payment text collate "C",
  paid_amount bigint,
  refunded_amount bigint default 0 not null,
  disputed_amount bigint default 0 not null,
  returned_credits bigint default 0 not null,
  reinstated_amount bigint default 0 not null,
  disputes json default '{}'::json not null,
  constraint checkouts_pkey PRIMARY KEY (tenant_id, id),
  constraint checkouts_credits_positive CHECK ((credits > 0)),
  constraint checkouts_license_only_when_paid CHECK (((license_sealed IS NULL) OR ((paid_at IS NOT NULL) AND (purpose = 'license_key'::text)))),
  constraint checkouts_provider_known CHECK ((provider = ANY (ARRAY['stripe'::text, 'test'::text]))),
  constraint checkouts_purpose_known CHECK ((purpose = ANY (ARRAY['license_key'::text, 'prefund'::text])))
);

create table collections (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  metadata json not null,
  app_state json not null,
  state text default 'open'::text not null,
  contributor_policy text not null,
  admin_token_hash bytea not null,
  contributor_token_hash bytea,
  box_recipient json,
  item_count bigint default 0 not null,
  last_seq bigint default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  item_access text default 'owner'::text not null,
  wall boolean default false not null,
  constraint collections_pkey PRIMARY KEY (tenant_id, id),
  constraint collections_box_is_not_open CHECK (((box_recipient IS NULL) OR ((item_access = 'owner'::text) AND (NOT wall)))),
  constraint collections_item_access_known CHECK ((item_access = ANY (ARRAY['owner'::text, 'open'::text]))),
  constraint collections_item_count_not_negative CHECK ((item_count >= 0)),
  constraint collections_policy_known CHECK ((contributor_policy = ANY (ARRAY['open'::text, 'token'::text]))),
  constraint collections_state_known CHECK ((state = ANY (ARRAY['open'::text, 'ready'::text, 'closed'::text])))
) with (fillfactor=70);

create table console_links (
  secret_hash bytea not null,
  kind text not null,
  tenant_id text collate "C",
  member_id text collate "C",
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint console_links_pkey PRIMARY KEY (secret_hash),
  constraint console_links_kind_known CHECK ((kind = ANY (ARRAY['operator'::text, 'tenant'::text, 'member'::text]))),
  constraint console_links_whole CHECK ((((kind = 'operator'::text) = (tenant_id IS NULL)) AND ((kind = 'member'::text) = (member_id IS NOT NULL))))
);

create table console_sessions (
  id text collate "C" not null,
  token_hash bytea not null,
  csrf_hash bytea not null,
  tenant_id text collate "C",
  member_id text collate "C",
  address text not null,
  user_agent text,
  created_at timestamp(3) with time zone default now() not null,
  last_used_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint console_sessions_pkey PRIMARY KEY (id),
  constraint console_sessions_hash_unique UNIQUE (token_hash),
  constraint console_sessions_member_of_tenant CHECK (((member_id IS NULL) OR (tenant_id IS NOT NULL)))
);

create table daily_counts (
  tenant_id text collate "C" not null,
  day date not null,
  meter text collate "C" not null,
  subject text collate "C" not null,
  used bigint not null,
  constraint daily_counts_pkey PRIMARY KEY (tenant_id, day, meter, subject),
  constraint daily_counts_meter_known CHECK ((meter = ANY (ARRAY['paints_per_address'::text, 'paints_per_collection'::text, 'paints_per_day'::text, 'upload_bytes_per_address'::text])))
) with (fillfactor=70);

create table database_contact (
  only_row boolean default true not null,
  since timestamp(3) with time zone not null,
  last_at timestamp(3) with time zone not null,
  constraint database_contact_pkey PRIMARY KEY (only_row),
  constraint database_contact_one_row CHECK (only_row)
) with (fillfactor=50);

create table epochs (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity not null,
  public_key json not null,
  value bigint not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone,
  constraint epochs_pkey PRIMARY KEY (tenant_id, id),
  constraint epochs_id_unique UNIQUE (id),
  constraint epochs_seq_unique UNIQUE (seq),
  constraint epochs_value_exact CHECK ((value <= '9007199254740991'::bigint)),
  constraint epochs_value_positive CHECK ((value > 0))
);

create table event_heads (
  tenant_id text collate "C" not null,
  last_sequence bigint default 0 not null,
  chain_sequence bigint,
  chain_hash bytea,
  numbered_at timestamp(3) with time zone,
  constraint event_heads_pkey PRIMARY KEY (tenant_id)
) with (fillfactor=50);

create table event_root_tiles (
  day date not null,
  level smallint not null,
  tile bigint not null,
  nodes bytea not null,
  salts bytea,
  heads text[] collate "C",
  first_tenant_id text collate "C",
  constraint event_root_tiles_pkey PRIMARY KEY (day, level, tile),
  constraint event_root_tiles_nodes CHECK (((octet_length(nodes) >= 40) AND (octet_length(nodes) <= 10240) AND ((octet_length(nodes) % 40) = 0)))
);

create table event_roots (
  day date not null,
  chains bigint not null,
  root bytea not null,
  made_at timestamp(3) with time zone default now() not null,
  constraint event_roots_pkey PRIMARY KEY (day),
  constraint event_roots_root CHECK ((octet_length(root) = 32))
);

create table events (
  tenant_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamp(3) with time zone not null,
  open_item boolean,
  hash bytea,
  hash_before bytea,
  constraint events_pkey PRIMARY KEY (tenant_id, sequence)
);

create table invites (
  code_hash bytea not null,
  uses_left integer not null,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  id text collate "C" default ('ivt_'::text || "left"(replace((gen_random_uuid())::text, '-'::text, ''::text), 22)) not null,
  hint text,
  uses integer,
  revoked_at timestamp(3) with time zone,
  constraint invites_pkey PRIMARY KEY (code_hash),
  constraint invites_id_unique UNIQUE (id),
  constraint invites_uses_left_not_negative CHECK ((uses_left >= 0))
);

create table items (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint not null,
  type text not null,
  content json not null,
  author text,
  approved boolean default true not null,
  archived boolean default false not null,
  hero boolean default false not null,
  access text default 'owner'::text not null,
  access_list bytea,
  created_at timestamp(3) with time zone default now() not null,
  constraint items_pkey PRIMARY KEY (tenant_id, collection_id, seq),
  constraint items_id_unique UNIQUE (tenant_id, collection_id, id),
  constraint items_access_known CHECK ((access = ANY (ARRAY['owner'::text, 'open'::text, 'email'::text])))
);

create table key_leaks (
  tenant_id text collate "C" not null,
  key_id text collate "C" not null,
  action text not null,
  places jsonb not null,
  first_seen_at timestamp(3) with time zone default now() not null,
  last_seen_at timestamp(3) with time zone default now() not null,
  constraint key_leaks_pkey PRIMARY KEY (tenant_id, key_id),
  constraint key_leaks_action_known CHECK ((action = ANY (ARRAY['revoked'::text, 'notified'::text, 'ended'::text])))
);

create table ledger_accounts (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  balance bigint default 0 not null,
  code_hash bytea,
  origin_tenant_id text collate "C",
  origin_id text collate "C",
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint ledger_accounts_pkey PRIMARY KEY (tenant_id, id),
  constraint ledger_accounts_balance_exact CHECK ((balance <= '9007199254740991'::bigint)),
  constraint ledger_accounts_balance_not_negative CHECK ((balance >= 0)),
  constraint ledger_accounts_code_of_bearer CHECK (((code_hash IS NOT NULL) = (kind = ANY (ARRAY['wallet'::text, 'coupon'::text, 'license'::text])))),
  constraint ledger_accounts_coupon_has_origin CHECK ((((origin_tenant_id IS NOT NULL) AND (origin_id IS NOT NULL)) = (kind = 'coupon'::text))),
  constraint ledger_accounts_coupons_expire CHECK (((expires_at IS NULL) OR (kind = 'coupon'::text))),
  constraint ledger_accounts_kind_known CHECK ((kind = ANY (ARRAY['platform'::text, 'issuer'::text, 'revenue'::text, 'wallet'::text, 'coupon'::text, 'license'::text, 'held'::text, 'loss'::text])))
) with (fillfactor=70);

create table ledger_audits (
  id text collate "C" not null,
  state text default 'queued'::text not null,
  rules_checked integer default 0 not null,
  accounts bigint,
  transfers bigint,
  credits bigint,
  findings json default '[]'::json not null,
  finding_count integer default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint ledger_audits_pkey PRIMARY KEY (id),
  constraint ledger_audits_state_known CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

create table ledger_due (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  due_at timestamp(3) with time zone not null,
  constraint ledger_due_pkey PRIMARY KEY (tenant_id, id)
);

create table ledger_hold_ends (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  outcome text not null,
  captured bigint not null,
  ended_at timestamp(3) with time zone default now() not null,
  joined_at timestamp(3) with time zone,
  budget bigint,
  used bigint,
  used_tokens bigint,
  used_tool_calls bigint,
  constraint ledger_hold_ends_pkey PRIMARY KEY (tenant_id, id),
  constraint ledger_hold_ends_captured_fits CHECK (((captured >= 0) AND ((captured > 0) = (outcome = 'captured'::text)))),
  constraint ledger_hold_ends_outcome_known CHECK ((outcome = ANY (ARRAY['captured'::text, 'released'::text, 'expired'::text])))
);

create table ledger_holds (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  account_id text collate "C" not null,
  amount bigint not null,
  actor text collate "C" not null,
  purpose text not null,
  ends_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint ledger_holds_pkey PRIMARY KEY (tenant_id, id),
  constraint ledger_holds_amount_positive CHECK ((amount > 0))
);

create table ledger_proof (
  name text collate "C" default 'books'::text not null,
  proved_through timestamp(3) with time zone not null,
  full_at timestamp(3) with time zone not null,
  proved_at timestamp(3) with time zone not null,
  after_tenant_id text collate "C" default ''::text not null,
  after_id text collate "C" default ''::text not null,
  findings integer not null,
  credits bigint not null,
  constraint ledger_proof_pkey PRIMARY KEY (name)
);

create table ledger_proved (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  moved bigint not null,
  held bigint not null,
  constraint ledger_proved_pkey PRIMARY KEY (tenant_id, id)
) with (fillfactor=70);

create table ledger_recoveries (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  thumbprint text collate "C" not null,
  sealed_code text collate "C" not null,
  constraint ledger_recoveries_pkey PRIMARY KEY (tenant_id, id)
);

create table ledger_reversals (
  seller text collate "C" not null,
  purpose text collate "C" not null,
  tenant_id text collate "C" not null,
  account_id text collate "C" not null,
  reversed bigint not null,
  lost bigint not null,
  recovered bigint default 0 not null,
  unrecorded bigint not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint ledger_reversals_pkey PRIMARY KEY (seller, purpose),
  constraint ledger_reversals_owed_fits CHECK (((lost - recovered) <= reversed)),
  constraint ledger_reversals_recovered_fits CHECK (((recovered >= 0) AND (recovered <= lost))),
  constraint ledger_reversals_unrecorded_not_negative CHECK ((unrecorded >= 0))
);

create table ledger_transfers (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  from_id text collate "C" not null,
  to_tenant_id text collate "C" not null,
  to_id text collate "C" not null,
  amount bigint not null,
  actor text collate "C" not null,
  memo text,
  created_at timestamp(3) with time zone default now() not null,
  purpose text collate "C",
  constraint ledger_transfers_pkey PRIMARY KEY (tenant_id, id),
  constraint ledger_transfers_amount_positive CHECK ((amount > 0)),
  constraint ledger_transfers_kind_known CHECK ((kind = ANY (ARRAY['prefund'::text, 'sale'::text, 'redemption'::text, 'grant'::text, 'return'::text, 'fee'::text, 'hold'::text, 'capture'::text, 'release'::text, 'refund'::text, 'loss'::text]))),
  constraint ledger_transfers_two_accounts CHECK (((tenant_id <> to_tenant_id) OR (from_id <> to_id)))
);

create table log_checkpoints (
  origin text collate "C" not null,
  size bigint not null,
  signed text not null,
  published_at timestamp(3) with time zone default now() not null,
  constraint log_checkpoints_pkey PRIMARY KEY (origin)
);

create table log_cosignatures (
  origin text collate "C" not null,
  witness text collate "C" not null,
  size bigint not null,
  line text not null,
  cosigned_at timestamp(3) with time zone default now() not null,
  constraint log_cosignatures_pkey PRIMARY KEY (origin, witness)
);

create table log_leaves (
  leaf_hash bytea not null,
  entry bytea not null,
  queued_at timestamp(3) with time zone default now() not null,
  "position" bigint,
  constraint log_leaves_pkey PRIMARY KEY (leaf_hash),
  constraint log_leaves_entry CHECK ((octet_length(entry) <= 65535)),
  constraint log_leaves_hash CHECK ((octet_length(leaf_hash) = 32))
);

create table log_shown (
  type text not null,
  leaf_hash bytea not null,
  constraint log_shown_pkey PRIMARY KEY (type)
);

create table log_sources (
  name text collate "C" not null,
  "position" bigint not null,
  constraint log_sources_pkey PRIMARY KEY (name)
);

create table log_tiles (
  level smallint not null,
  tile bigint not null,
  hashes bytea not null,
  constraint log_tiles_pkey PRIMARY KEY (level, tile),
  constraint log_tiles_hashes CHECK (((octet_length(hashes) >= 32) AND (octet_length(hashes) <= 8192) AND ((octet_length(hashes) % 32) = 0)))
);

create table log_tree (
  only_row boolean default true not null,
  size bigint not null,
  root bytea not null,
  heard_at timestamp(3) with time zone,
  refusal text,
  waiting text,
  refused_origin text collate "C",
  constraint log_tree_pkey PRIMARY KEY (only_row),
  constraint log_tree_one_row CHECK (only_row)
);

create table master_key_check (
  name text default 'check'::text not null,
  sealed bytea not null,
  constraint master_key_check_pkey PRIMARY KEY (name),
  constraint master_key_check_one_row CHECK ((name = 'check'::text))
);

create table members (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  email text collate "C" not null,
  name text,
  role text not null,
  issuer text collate "C",
  subject text collate "C",
  created_at timestamp(3) with time zone default now() not null,
  joined_at timestamp(3) with time zone,
  constraint members_pkey PRIMARY KEY (tenant_id, id),
  constraint members_account_unique UNIQUE (issuer, subject, tenant_id),
  constraint members_email_unique UNIQUE (tenant_id, email),
  constraint members_account_joined CHECK (((issuer IS NULL) OR (joined_at IS NOT NULL))),
  constraint members_account_whole CHECK (((issuer IS NULL) = (subject IS NULL))),
  constraint members_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'moderator'::text, 'analyst'::text])))
);

create table new_rooms (
  made_on date not null,
  room text collate "C" not null,
  constraint new_rooms_pkey PRIMARY KEY (made_on, room)
);

create table operator_credentials (
  id text collate "C" not null,
  name text not null,
  hint text not null,
  token_hash bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint operator_credentials_pkey PRIMARY KEY (id),
  constraint operator_credentials_hash_unique UNIQUE (token_hash)
);

create table paint_allowances (
  tenant_id text collate "C" not null,
  month date not null,
  used bigint not null,
  constraint paint_allowances_pkey PRIMARY KEY (tenant_id, month),
  constraint paint_allowances_used_not_negative CHECK ((used >= 0))
);

create table partition_slots (
  name text collate "C" not null,
  slot smallint not null,
  opened_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  constraint partition_slots_pkey PRIMARY KEY (name, slot),
  constraint partition_slots_closed_after_opened CHECK (((closed_at IS NULL) OR (opened_at IS NOT NULL)))
);

create table platform_keys (
  purpose text collate "C" not null,
  id text collate "C" not null,
  public_jwk json not null,
  private_sealed bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  retired_at timestamp(3) with time zone,
  constraint platform_keys_pkey PRIMARY KEY (purpose, id)
);

create table processes (
  id uuid not null,
  role text not null,
  host text not null,
  pid integer not null,
  version text not null,
  node text not null,
  memory_bytes bigint not null,
  started_at timestamp(3) with time zone default now() not null,
  beat_at timestamp(3) with time zone default now() not null,
  slowest_revocation_ms integer,
  sealing_key text,
  constraint processes_pkey PRIMARY KEY (id),
  constraint processes_role_known CHECK ((role = ANY (ARRAY['api'::text, 'worker'::text])))
) with (fillfactor=50);

create table provider_keys (
  tenant_id text collate "C" not null,
  provider text collate "C" not null,
  key_sealed bytea not null,
  hint text not null,
  url text,
  set_at timestamp(3) with time zone default now() not null,
  constraint provider_keys_pkey PRIMARY KEY (tenant_id, provider)
);

create table receipt_numbers (
  tenant_id text collate "C" not null,
  last bigint not null,
  constraint receipt_numbers_pkey PRIMARY KEY (tenant_id)
) with (fillfactor=70);

create table receipts (
  tenant_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  kind text not null,
  subject text collate "C" not null,
  price bigint not null,
  charged bigint not null,
  payer_tenant_id text collate "C" not null,
  payer_id text collate "C" not null,
  ledger_id text collate "C" not null,
  code_hash bytea,
  held_at timestamp(3) with time zone,
  joined_at timestamp(3) with time zone,
  stopped_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint receipts_pkey PRIMARY KEY (tenant_id, seq),
  constraint receipts_charged_fits CHECK (((charged >= 0) AND (charged <= price)))
);

create table removed_rooms (
  room text collate "C" not null,
  constraint removed_rooms_pkey PRIMARY KEY (room)
);

create table restores (
  only_row boolean default true not null,
  snapshot_at timestamp(3) with time zone not null,
  restored_at timestamp(3) with time zone default now() not null,
  confirmed_at timestamp(3) with time zone,
  constraint restores_pkey PRIMARY KEY (only_row),
  constraint restores_one_row CHECK (only_row)
);

create table room_lines (
  room text collate "C" not null,
  seq integer not null,
  line text storage external collate "C" not null,
  dedupe text collate "C",
  constraint room_lines_pkey PRIMARY KEY (room, seq)
);

create table rooms (
  room text collate "C" not null,
  count integer not null,
  etag text collate "C" not null,
  bytes bigint not null,
  policy_seq integer not null,
  policy_hash text collate "C" not null,
  access_key text collate "C",
  constraint rooms_pkey PRIMARY KEY (room),
  constraint rooms_policy_is_a_line CHECK (((policy_seq >= 0) AND (policy_seq < count)))
) with (fillfactor=70);

create table sessions (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  agent_tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  room text collate "C" not null,
  status text not null,
  mk_sealed bytea,
  coupon_sealed bytea,
  control_hash bytea,
  agent_control_hash bytea,
  summon_hash bytea,
  armed_id text collate "C",
  price bigint not null,
  charged bigint default 0 not null,
  payer_tenant_id text collate "C",
  payer_id text collate "C",
  max_minutes integer not null,
  metadata json,
  error json,
  answered_seq integer not null,
  spoke_at timestamp(3) with time zone,
  lease_owner text,
  lease_until timestamp(3) with time zone,
  notice_due boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  joined_at timestamp(3) with time zone,
  stopped_at timestamp(3) with time zone,
  agent_version bytea not null,
  is_remote boolean not null,
  budget bigint default 0 not null,
  budget_holds json,
  used bigint default 0 not null,
  used_tokens bigint default 0 not null,
  used_tool_calls bigint default 0 not null,
  used_steps bigint default 0 not null,
  paused_at timestamp(3) with time zone,
  client_sealed boolean default false not null,
  device_sealed bytea,
  constraint sessions_pkey PRIMARY KEY (tenant_id, id),
  constraint sessions_armed_by_summon_key CHECK (((summon_hash IS NOT NULL) OR (status <> 'armed'::text))),
  constraint sessions_charged_fits CHECK (((charged >= 0) AND (charged <= (price + budget)))),
  constraint sessions_key_while_needed CHECK (((mk_sealed IS NULL) OR (status = ANY (ARRAY['armed'::text, 'launching'::text, 'running'::text, 'stopping'::text])))),
  constraint sessions_status_known CHECK ((status = ANY (ARRAY['armed'::text, 'launching'::text, 'running'::text, 'stopping'::text, 'stopped'::text, 'failed'::text, 'expired'::text])))
) with (fillfactor=80);

create table space_certificates (
  digest text collate "C" not null,
  signed text not null,
  key_thumbprint text not null,
  first_seen_at timestamp(3) with time zone default now() not null,
  last_seen_at timestamp(3) with time zone default now() not null,
  constraint space_certificates_pkey PRIMARY KEY (digest)
);

create table space_total (
  only_row boolean default true not null,
  bytes bigint not null,
  constraint space_total_pkey PRIMARY KEY (only_row),
  constraint space_total_one_row CHECK (only_row)
) with (fillfactor=50);

create table space_use (
  starts_at timestamp(0) with time zone not null,
  what text collate "C" not null,
  caller text collate "C" not null,
  used bigint not null,
  constraint space_use_pkey PRIMARY KEY (starts_at, what, caller),
  constraint space_use_what CHECK ((what = ANY (ARRAY['rooms'::text, 'bytes'::text])))
) with (fillfactor=70);

create table stored_bytes (
  tenant_id text collate "C" not null,
  bytes bigint not null,
  constraint stored_bytes_pkey PRIMARY KEY (tenant_id)
) with (fillfactor=70);

create table sweep_leases (
  name text collate "C" not null,
  holder text collate "C",
  until timestamp(3) with time zone,
  ran_at timestamp(3) with time zone,
  interval_ms integer,
  failed_at timestamp(3) with time zone,
  constraint sweep_leases_pkey PRIMARY KEY (name)
) with (fillfactor=50);

create table tenant_deletions (
  tenant_id text collate "C" not null,
  status_before text not null,
  requested_at timestamp(3) with time zone default now() not null,
  due_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  blobs_queued_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  rows_removed bigint default 0 not null,
  constraint tenant_deletions_pkey PRIMARY KEY (tenant_id),
  constraint tenant_deletions_in_order CHECK ((((finished_at IS NULL) OR (blobs_queued_at IS NOT NULL)) AND ((blobs_queued_at IS NULL) OR (started_at IS NOT NULL)))),
  constraint tenant_deletions_status_known CHECK ((status_before = ANY (ARRAY['active'::text, 'suspended'::text])))
);

create table tenant_limits (
  tenant_id text collate "C" not null,
  paints_per_address bigint,
  paints_per_collection bigint,
  paints_per_day bigint,
  upload_bytes_per_address bigint,
  stored_bytes bigint,
  open_streams bigint,
  paints_per_month bigint,
  rate_percent bigint,
  active_sessions bigint,
  pending_launches bigint,
  open_uploads bigint,
  open_upload_bytes bigint,
  open_uploads_in_collection bigint,
  active_generations bigint,
  constraint tenant_limits_pkey PRIMARY KEY (tenant_id),
  constraint tenant_limits_more_not_negative CHECK ((LEAST(paints_per_month, rate_percent, active_sessions, pending_launches, open_uploads, open_upload_bytes, open_uploads_in_collection, active_generations) >= 0)),
  constraint tenant_limits_not_negative CHECK ((LEAST(paints_per_address, paints_per_collection, paints_per_day, upload_bytes_per_address, stored_bytes) >= 0)),
  constraint tenant_limits_streams_not_negative CHECK ((open_streams >= 0))
);

create table tenants (
  id text collate "C" not null,
  name text not null,
  email text,
  roles text[],
  status text default 'active'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  logs_requests boolean default true not null,
  revokes_leaked_keys boolean default true not null,
  constraint tenants_pkey PRIMARY KEY (id),
  constraint tenants_roles_known CHECK ((roles <@ ARRAY['app'::text, 'issuer'::text])),
  constraint tenants_status_known CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text])))
);

create table usage_days (
  tenant_id text collate "C" not null,
  day date not null,
  meter text collate "C" not null,
  quantity bigint not null,
  constraint usage_days_pkey PRIMARY KEY (tenant_id, day, meter),
  constraint usage_days_meter_known CHECK ((meter = ANY (ARRAY['requests'::text, 'items'::text, 'paints'::text, 'launches'::text, 'bytes'::text]))),
  constraint usage_days_quantity_exact CHECK ((quantity <= '9007199254740991'::bigint)),
  constraint usage_days_quantity_not_negative CHECK ((quantity >= 0))
) with (fillfactor=70);

create table usage_items (
  tenant_id text collate "C" not null,
  day date not null,
  collection_id text collate "C" not null,
  items bigint not null,
  part bigint default 0 not null,
  constraint usage_items_pkey PRIMARY KEY (tenant_id, day, collection_id, part),
  constraint usage_items_positive CHECK ((items > 0))
) with (fillfactor=70);

create table usage_traffic (
  tenant_id text collate "C" not null,
  day date not null,
  requests bigint not null,
  bytes bigint not null,
  constraint usage_traffic_pkey PRIMARY KEY (tenant_id, day),
  constraint usage_traffic_exact CHECK ((GREATEST(requests, bytes) <= '9007199254740991'::bigint)),
  constraint usage_traffic_not_negative CHECK ((LEAST(requests, bytes) >= 0))
) with (fillfactor=70);

create table usage_writers (
  id uuid not null,
  last_batch bigint not null,
  written_at timestamp(3) with time zone default now() not null,
  constraint usage_writers_pkey PRIMARY KEY (id)
);

create table webhook_endpoint_secrets (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  sealed bytea not null,
  signs_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_endpoint_secrets_pkey PRIMARY KEY (tenant_id, id)
);

create table webhook_endpoints (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  url text not null,
  events text[],
  description text,
  enabled boolean not null,
  failures integer default 0 not null,
  failing_since timestamp(3) with time zone,
  resume_at timestamp(3) with time zone,
  lease_owner text collate "C",
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_endpoints_pkey PRIMARY KEY (tenant_id, endpoint_id)
) with (fillfactor=50);

create table webhook_queues (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  due_at timestamp(3) with time zone,
  resends bigint default 0 not null,
  constraint webhook_queues_pkey PRIMARY KEY (tenant_id, endpoint_id)
);

create table webhook_secrets (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  sealed bytea not null,
  signs_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_secrets_pkey PRIMARY KEY (tenant_id, id)
);

create table webhooks (
  tenant_id text collate "C" not null,
  url text not null,
  events text[],
  enabled boolean not null,
  failures integer default 0 not null,
  failing_since timestamp(3) with time zone,
  resume_at timestamp(3) with time zone,
  lease_owner text collate "C",
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  description text,
  constraint webhooks_pkey PRIMARY KEY (tenant_id)
) with (fillfactor=50);

create table event_outbox (
  tenant_id text collate "C" constraint event_outbox_slots_tenant_id_not_null not null,
  "position" bigint default nextval('event_outbox_positions'::regclass) constraint event_outbox_slots_position_not_null not null,
  id text collate "C" constraint event_outbox_slots_id_not_null not null,
  type text constraint event_outbox_slots_type_not_null not null,
  data json constraint event_outbox_slots_data_not_null not null,
  created_at timestamp(3) with time zone default clock_timestamp() constraint event_outbox_slots_created_at_not_null not null,
  was_open boolean,
  slot smallint default COALESCE(pg_sequence_last_value('event_outbox_slot'::regclass), (0)::bigint) constraint event_outbox_slots_slot_not_null not null
) partition by LIST (slot);

create table idempotency_keys (
  scope text collate "C" constraint idempotency_keys_parts_scope_not_null not null,
  key_hash bytea constraint idempotency_keys_parts_key_hash_not_null not null,
  body_hash bytea constraint idempotency_keys_parts_body_hash_not_null not null,
  answer bytea,
  expires_at timestamp(3) with time zone constraint idempotency_keys_parts_expires_at_not_null not null,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
) partition by HASH (key_hash);

create table request_log (
  tenant_id text collate "C" not null,
  request_id text collate "C" not null,
  created_at timestamp(3) with time zone not null,
  method text not null,
  path text collate "C" not null,
  status smallint not null,
  code text,
  key_id text collate "C" not null,
  duration_ms double precision not null,
  origin text,
  slot smallint default COALESCE(pg_sequence_last_value('request_log_slot'::regclass), (0)::bigint) not null
) partition by LIST (slot);

create table request_log_chunks (
  tenant_id text collate "C" not null,
  last_at timestamp(3) with time zone not null,
  id text collate "C" not null,
  first_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone not null,
  requests integer not null,
  refused integer not null,
  failed integer not null,
  duration_sample double precision[] not null,
  entries json not null,
  slot smallint default COALESCE(pg_sequence_last_value('request_log_chunks_slot'::regclass), (0)::bigint) not null
) partition by LIST (slot);

create table webhook_deliveries (
  tenant_id text collate "C" constraint webhook_deliveries_slots_tenant_id_not_null not null,
  sequence bigint constraint webhook_deliveries_slots_sequence_not_null not null,
  id text collate "C" constraint webhook_deliveries_slots_id_not_null not null,
  status text default 'pending'::text constraint webhook_deliveries_slots_status_not_null not null,
  tries integer default 0 constraint webhook_deliveries_slots_tries_not_null not null,
  attempts integer default 0 constraint webhook_deliveries_slots_attempts_not_null not null,
  response_status integer,
  error text,
  created_at timestamp(3) with time zone default now() constraint webhook_deliveries_slots_created_at_not_null not null,
  last_attempt_at timestamp(3) with time zone,
  next_attempt_at timestamp(3) with time zone,
  slot smallint default COALESCE(pg_sequence_last_value('webhook_deliveries_slot'::regclass), (0)::bigint) constraint webhook_deliveries_slots_slot_not_null not null,
  attempt_log jsonb,
  constraint webhook_deliveries_pending_is_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint webhook_deliveries_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
) partition by LIST (slot);

create table webhook_endpoint_deliveries (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  status text default 'pending'::text not null,
  tries integer default 0 not null,
  attempts integer default 0 not null,
  response_status integer,
  error text,
  created_at timestamp(3) with time zone default now() not null,
  last_attempt_at timestamp(3) with time zone,
  next_attempt_at timestamp(3) with time zone,
  attempt_log jsonb,
  slot smallint default COALESCE(pg_sequence_last_value('webhook_endpoint_deliveries_slot'::regclass), (0)::bigint) not null,
  constraint webhook_endpoint_deliveries_pending_is_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint webhook_endpoint_deliveries_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
) partition by LIST (slot);

create table event_outbox_0 partition of event_outbox (
  constraint event_outbox_0_pkey PRIMARY KEY (tenant_id, "position"),
  constraint event_outbox_0_slot CHECK ((slot = 0))
) FOR VALUES IN ('0') with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table event_outbox_1 partition of event_outbox (
  constraint event_outbox_1_pkey PRIMARY KEY (tenant_id, "position")
) FOR VALUES IN ('1') with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table event_outbox_2 partition of event_outbox (
  constraint event_outbox_2_pkey PRIMARY KEY (tenant_id, "position")
) FOR VALUES IN ('2') with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table idempotency_keys_0 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 0);

create table idempotency_keys_1 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 1);

create table idempotency_keys_2 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 2);

create table idempotency_keys_3 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 3);

create table idempotency_keys_4 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 4);

create table idempotency_keys_5 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 5);

create table idempotency_keys_6 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 6);

create table idempotency_keys_7 partition of idempotency_keys FOR VALUES WITH (modulus 8, remainder 7);

create table request_log_0 partition of request_log (
  constraint request_log_0_pkey PRIMARY KEY (tenant_id, request_id)
) FOR VALUES IN ('0');

create table request_log_1 partition of request_log (
  constraint request_log_1_pkey PRIMARY KEY (tenant_id, request_id)
) FOR VALUES IN ('1');

create table request_log_2 partition of request_log (
  constraint request_log_2_pkey PRIMARY KEY (tenant_id, request_id)
) FOR VALUES IN ('2');

create table request_log_3 partition of request_log (
  constraint request_log_3_pkey PRIMARY KEY (tenant_id, request_id)
) FOR VALUES IN ('3');

create table request_log_4 partition of request_log (
  constraint request_log_4_pkey PRIMARY KEY (tenant_id, request_id)
) FOR VALUES IN ('4');

create table request_log_chunks_0 partition of request_log_chunks (
  constraint request_log_chunks_0_pkey PRIMARY KEY (tenant_id, last_at, id) INCLUDE (requests, refused, failed)
) FOR VALUES IN ('0');

create table request_log_chunks_1 partition of request_log_chunks (
  constraint request_log_chunks_1_pkey PRIMARY KEY (tenant_id, last_at, id) INCLUDE (requests, refused, failed)
) FOR VALUES IN ('1');

create table request_log_chunks_2 partition of request_log_chunks (
  constraint request_log_chunks_2_pkey PRIMARY KEY (tenant_id, last_at, id) INCLUDE (requests, refused, failed)
) FOR VALUES IN ('2');

create table request_log_chunks_3 partition of request_log_chunks (
  constraint request_log_chunks_3_pkey PRIMARY KEY (tenant_id, last_at, id) INCLUDE (requests, refused, failed)
) FOR VALUES IN ('3');

create table request_log_chunks_4 partition of request_log_chunks (
  constraint request_log_chunks_4_pkey PRIMARY KEY (tenant_id, last_at, id) INCLUDE (requests, refused, failed)
) FOR VALUES IN ('4');

create table webhook_deliveries_0 partition of webhook_deliveries (
  constraint webhook_deliveries_0_pkey PRIMARY KEY (tenant_id, sequence),
  constraint webhook_deliveries_0_id_unique UNIQUE (tenant_id, id),
  constraint webhook_deliveries_0_slot CHECK ((slot = 0))
) FOR VALUES IN ('0');

create table webhook_deliveries_1 partition of webhook_deliveries (
  constraint webhook_deliveries_1_pkey PRIMARY KEY (tenant_id, sequence),
  constraint webhook_deliveries_1_id_unique UNIQUE (tenant_id, id)
) FOR VALUES IN ('1');

create table webhook_deliveries_2 partition of webhook_deliveries (
  constraint webhook_deliveries_2_pkey PRIMARY KEY (tenant_id, sequence),
  constraint webhook_deliveries_2_id_unique UNIQUE (tenant_id, id)
) FOR VALUES IN ('2');

create table webhook_deliveries_3 partition of webhook_deliveries (
  constraint webhook_deliveries_3_pkey PRIMARY KEY (tenant_id, sequence),
  constraint webhook_deliveries_3_id_unique UNIQUE (tenant_id, id)
) FOR VALUES IN ('3');

create table webhook_deliveries_4 partition of webhook_deliveries (
  constraint webhook_deliveries_4_pkey PRIMARY KEY (tenant_id, sequence),
  constraint webhook_deliveries_4_id_unique UNIQUE (tenant_id, id)
) FOR VALUES IN ('4');

create table webhook_endpoint_deliveries_0 partition of webhook_endpoint_deliveries (
  constraint webhook_endpoint_deliveries_0_pkey PRIMARY KEY (tenant_id, endpoint_id, sequence)
) FOR VALUES IN ('0');

create table webhook_endpoint_deliveries_1 partition of webhook_endpoint_deliveries (
  constraint webhook_endpoint_deliveries_1_pkey PRIMARY KEY (tenant_id, endpoint_id, sequence)
) FOR VALUES IN ('1');

create table webhook_endpoint_deliveries_2 partition of webhook_endpoint_deliveries (
  constraint webhook_endpoint_deliveries_2_pkey PRIMARY KEY (tenant_id, endpoint_id, sequence)
) FOR VALUES IN ('2');

create table webhook_endpoint_deliveries_3 partition of webhook_endpoint_deliveries (
  constraint webhook_endpoint_deliveries_3_pkey PRIMARY KEY (tenant_id, endpoint_id, sequence)
) FOR VALUES IN ('3');

create table webhook_endpoint_deliveries_4 partition of webhook_endpoint_deliveries (
  constraint webhook_endpoint_deliveries_4_pkey PRIMARY KEY (tenant_id, endpoint_id, sequence)
) FOR VALUES IN ('4');

CREATE OR REPLACE FUNCTION public.add_receipts(made receipts[])
 RETURNS void
 LANGUAGE sql
AS $function$
  with counted as (
    insert into receipt_numbers as n (tenant_id, last)
    select m.tenant_id, count(*) from unnest(made) m group by m.tenant_id order by m.tenant_id
    on conflict on constraint receipt_numbers_pkey do update set last = n.last + excluded.last
    returning n.tenant_id, n.last
  )
  insert into receipts (
    tenant_id, seq, id, kind, subject, price, charged, payer_tenant_id, payer_id, ledger_id, code_hash, held_at, joined_at, stopped_at,
    created_at
  )
  select m.tenant_id, c.last + 1 - row_number() over (partition by m.tenant_id order by m.ledger_id desc), m.id, m.kind, m.subject,
    m.price, m.charged, m.payer_tenant_id, m.payer_id, m.ledger_id, m.code_hash, m.held_at, m.joined_at, m.stopped_at, m.created_at
  from unnest(made) m
  join counted c on c.tenant_id = m.tenant_id
$function$
;

CREATE INDEX agents_catalog ON public.agents USING btree (seq) WHERE (status = 'active'::text);

CREATE INDEX agents_id ON public.agents USING btree (id);

CREATE INDEX agents_suspended ON public.agents USING btree (tenant_id, id) WHERE (status = 'suspended'::text);

CREATE INDEX agents_without_card ON public.agents USING btree (seq) WHERE ((status = 'active'::text) AND (card IS NULL));

CREATE INDEX api_keys_by_end ON public.api_keys USING btree (tenant_id, COALESCE(LEAST(expires_at, revoked_at), '9999-12-31 23:59:59.999+00'::timestamp with time zone) DESC, id DESC);

CREATE INDEX api_keys_expiring ON public.api_keys USING btree (expires_at) WHERE ((revoked_at IS NULL) AND (expiry_notices < 2));

CREATE INDEX artifact_jobs_taken ON public.artifact_jobs USING btree (turn) WHERE (lease_owner IS NOT NULL);

CREATE INDEX artifact_jobs_turn ON public.artifact_jobs USING btree (turn, run_at);

CREATE INDEX artifact_uploads_expires_at ON public.artifact_uploads USING btree (expires_at);

CREATE INDEX artifacts_id ON public.artifacts USING btree (id);

CREATE UNIQUE INDEX artifacts_one_hero ON public.artifacts USING btree (tenant_id, collection_id) WHERE hero;

CREATE INDEX artifacts_public_cards ON public.artifacts USING btree (tenant_id, collection_id, seq) WHERE ((kind = 'card'::text) AND published AND approved AND (NOT archived) AND (access = 'open'::text) AND (status = 'ready'::text));

CREATE INDEX audit_log_newest ON public.audit_log USING btree (created_at, id);

CREATE INDEX audit_log_of_tenant ON public.audit_log USING btree (tenant_id, created_at, id) WHERE (tenant_id IS NOT NULL);

CREATE INDEX blob_deletions_due_at ON public.blob_deletions USING btree (due_at);

CREATE INDEX books_tiles_accounts ON public.books_tiles USING btree (day, first_tenant_id, first_id) WHERE (level = 0);

CREATE INDEX checkouts_id ON public.checkouts USING btree (id);

CREATE INDEX checkouts_license_account ON public.checkouts USING btree (tenant_id, license_account) WHERE (license_sealed IS NOT NULL);

CREATE INDEX checkouts_newest ON public.checkouts USING btree (tenant_id, created_at, id);

CREATE INDEX checkouts_payment ON public.checkouts USING btree (payment) WHERE (payment IS NOT NULL);

CREATE INDEX checkouts_settled ON public.checkouts USING btree (COALESCE(paid_at, ended_at, expires_at)) WHERE ((license_sealed IS NULL) AND ((pending_at IS NULL) OR (paid_at IS NOT NULL) OR (ended_at IS NOT NULL)));

CREATE INDEX collections_id ON public.collections USING btree (id);

CREATE INDEX collections_newest ON public.collections USING btree (tenant_id, created_at, id);

CREATE INDEX console_links_expire ON public.console_links USING btree (expires_at);

CREATE INDEX console_links_of_member ON public.console_links USING btree (tenant_id, member_id) WHERE (tenant_id IS NOT NULL);

CREATE INDEX console_sessions_of_member ON public.console_sessions USING btree (tenant_id, member_id);

CREATE INDEX console_sessions_used ON public.console_sessions USING btree (last_used_at);

CREATE INDEX daily_counts_day ON public.daily_counts USING btree (day);

CREATE INDEX event_root_tiles_heads ON public.event_root_tiles USING btree (day, first_tenant_id) WHERE (level = 0);

CREATE INDEX events_collection ON public.events USING btree (tenant_id, ((data ->> 'collection_id'::text)), sequence) WHERE ((data ->> 'collection_id'::text) IS NOT NULL);

CREATE INDEX events_created_at ON public.events USING btree (created_at);

CREATE INDEX events_open_items ON public.events USING btree (tenant_id, ((data ->> 'collection_id'::text)), sequence) WHERE (open_item IS NOT NULL);

CREATE INDEX idempotency_keys_expires_at ON ONLY public.idempotency_keys USING btree (expires_at);

CREATE UNIQUE INDEX items_one_hero ON public.items USING btree (tenant_id, collection_id) WHERE hero;

CREATE INDEX items_open ON public.items USING btree (tenant_id, collection_id, seq) WHERE (approved AND (NOT archived) AND (access = 'open'::text));

CREATE INDEX items_open_type ON public.items USING btree (tenant_id, collection_id, type, seq) WHERE (approved AND (NOT archived) AND (access = 'open'::text));

CREATE UNIQUE INDEX ledger_accounts_code ON public.ledger_accounts USING btree (code_hash) WHERE (code_hash IS NOT NULL);

CREATE UNIQUE INDEX ledger_audits_one_open ON public.ledger_audits USING btree ((true)) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE INDEX ledger_due_due_at ON public.ledger_due USING btree (due_at);

CREATE INDEX ledger_hold_ends_ended_at ON public.ledger_hold_ends USING brin (ended_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX ledger_holds_created_at ON public.ledger_holds USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX ledger_reversals_owed ON public.ledger_reversals USING btree (tenant_id, account_id) WHERE (lost > recovered);

CREATE INDEX ledger_transfers_created_at ON public.ledger_transfers USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX ledger_transfers_memos ON public.ledger_transfers USING btree (tenant_id, id) WHERE (memo IS NOT NULL);

CREATE INDEX ledger_transfers_newest ON public.ledger_transfers USING btree (tenant_id, created_at, id);

CREATE INDEX ledger_transfers_received ON public.ledger_transfers USING btree (to_tenant_id, created_at, id) WHERE ((tenant_id <> to_tenant_id) AND (to_id <> 'revenue'::text));

CREATE INDEX ledger_transfers_spent ON public.ledger_transfers USING btree (actor, created_at) WHERE (kind = ANY (ARRAY['capture'::text, 'fee'::text]));

CREATE UNIQUE INDEX log_leaves_position ON public.log_leaves USING btree ("position") WHERE ("position" IS NOT NULL);

CREATE INDEX log_leaves_waiting ON public.log_leaves USING btree (queued_at, leaf_hash) WHERE ("position" IS NULL);

CREATE UNIQUE INDEX operator_credentials_name ON public.operator_credentials USING btree (name) WHERE (revoked_at IS NULL);

CREATE UNIQUE INDEX platform_keys_one_living ON public.platform_keys USING btree (purpose) WHERE (retired_at IS NULL);

CREATE INDEX receipts_newest ON public.receipts USING btree (tenant_id, created_at, id);

CREATE INDEX receipts_of_payer ON public.receipts USING btree (payer_tenant_id, payer_id, created_at, id);

CREATE INDEX request_log_failures ON ONLY public.request_log USING btree (tenant_id, created_at, request_id) WHERE (status >= 400);

CREATE INDEX request_log_times ON ONLY public.request_log USING btree (tenant_id, created_at, request_id);

CREATE INDEX request_log_chunks_failures ON ONLY public.request_log_chunks USING btree (tenant_id, last_at, id) WHERE ((refused + failed) > 0);

CREATE UNIQUE INDEX room_lines_dedupe ON public.room_lines USING btree (room, dedupe) WHERE (dedupe IS NOT NULL);

CREATE INDEX sessions_active_of_agent_tenant ON public.sessions USING btree (agent_tenant_id) WHERE (status = ANY (ARRAY['launching'::text, 'running'::text, 'stopping'::text]));

CREATE UNIQUE INDEX sessions_agent_control ON public.sessions USING btree (agent_control_hash) WHERE (agent_control_hash IS NOT NULL);

CREATE INDEX sessions_alive ON public.sessions USING btree (expires_at) WHERE (status = ANY (ARRAY['armed'::text, 'launching'::text, 'running'::text, 'stopping'::text]));

CREATE UNIQUE INDEX sessions_control ON public.sessions USING btree (control_hash) WHERE (control_hash IS NOT NULL);

CREATE INDEX sessions_ended ON public.sessions USING btree (stopped_at) WHERE (status = ANY (ARRAY['stopped'::text, 'failed'::text, 'expired'::text]));

CREATE INDEX sessions_living_of_tenant ON public.sessions USING btree (tenant_id, status) WHERE (status = ANY (ARRAY['armed'::text, 'launching'::text, 'running'::text, 'stopping'::text]));

CREATE INDEX sessions_newest ON public.sessions USING btree (tenant_id, created_at, id);

CREATE INDEX sessions_notices ON public.sessions USING btree (id) WHERE notice_due;

CREATE UNIQUE INDEX sessions_one_in_room ON public.sessions USING btree (room, agent_id) WHERE (status = ANY (ARRAY['launching'::text, 'running'::text, 'stopping'::text]));

CREATE UNIQUE INDEX sessions_summon ON public.sessions USING btree (summon_hash) WHERE (summon_hash IS NOT NULL);

CREATE INDEX sessions_version ON public.sessions USING btree (agent_tenant_id, agent_id, agent_version);

CREATE INDEX tenant_deletions_due ON public.tenant_deletions USING btree (due_at) WHERE (finished_at IS NULL);

CREATE INDEX webhook_deliveries_0_due ON public.webhook_deliveries_0 USING btree (tenant_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_1_due ON public.webhook_deliveries_1 USING btree (tenant_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_2_due ON public.webhook_deliveries_2 USING btree (tenant_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_3_due ON public.webhook_deliveries_3 USING btree (tenant_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_4_due ON public.webhook_deliveries_4 USING btree (tenant_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_endpoint_deliveries_due ON ONLY public.webhook_endpoint_deliveries USING btree (tenant_id, endpoint_id, next_attempt_at, sequence) WHERE (status = 'pending'::text);

CREATE INDEX webhook_endpoint_deliveries_id ON ONLY public.webhook_endpoint_deliveries USING btree (tenant_id, endpoint_id, id);

CREATE UNIQUE INDEX webhook_endpoint_secrets_one_current ON public.webhook_endpoint_secrets USING btree (tenant_id, endpoint_id) WHERE (signs_until IS NULL);

CREATE INDEX webhook_queues_due ON public.webhook_queues USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX webhook_secrets_one_current ON public.webhook_secrets USING btree (tenant_id) WHERE (signs_until IS NULL);

alter table agent_ratings add constraint agent_ratings_agent_exists
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id);

alter table agent_versions add constraint agent_versions_agent_exists
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents(tenant_id, id);

alter table agents add constraint agents_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table api_keys add constraint api_keys_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table artifact_jobs add constraint artifact_jobs_artifact_exists
  FOREIGN KEY (tenant_id, collection_id, artifact_id) REFERENCES artifacts(tenant_id, collection_id, id) ON DELETE CASCADE;

alter table artifact_uploads add constraint artifact_uploads_artifact_exists
  FOREIGN KEY (tenant_id, collection_id, artifact_id) REFERENCES artifacts(tenant_id, collection_id, id) ON DELETE CASCADE;

alter table artifacts add constraint artifacts_collection_exists
  FOREIGN KEY (tenant_id, collection_id) REFERENCES collections(tenant_id, id) ON DELETE CASCADE;

alter table checkouts add constraint checkouts_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table collections add constraint collections_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table console_links add constraint console_links_member_exists
  FOREIGN KEY (tenant_id, member_id) REFERENCES members(tenant_id, id);

alter table console_links add constraint console_links_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table console_sessions add constraint console_sessions_member_exists
  FOREIGN KEY (tenant_id, member_id) REFERENCES members(tenant_id, id);

alter table console_sessions add constraint console_sessions_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table daily_counts add constraint daily_counts_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table epochs add constraint epochs_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table key_leaks add constraint key_leaks_key_exists
  FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys(tenant_id, id);

alter table ledger_hold_ends add constraint ledger_hold_ends_hold_exists
  FOREIGN KEY (tenant_id, id) REFERENCES ledger_holds(tenant_id, id);

alter table members add constraint members_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table paint_allowances add constraint paint_allowances_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table provider_keys add constraint provider_keys_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table room_lines add constraint room_lines_room_exists
  FOREIGN KEY (room) REFERENCES rooms(room) ON DELETE CASCADE;

alter table sessions add constraint sessions_agent_exists
  FOREIGN KEY (agent_tenant_id, agent_id) REFERENCES agents(tenant_id, id);

alter table sessions add constraint sessions_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table sessions add constraint sessions_version_exists
  FOREIGN KEY (agent_tenant_id, agent_id, agent_version) REFERENCES agent_versions(tenant_id, agent_id, version) DEFERRABLE INITIALLY DEFERRED;

alter table stored_bytes add constraint stored_bytes_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table tenant_deletions add constraint tenant_deletions_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table tenant_limits add constraint tenant_limits_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table usage_days add constraint usage_days_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table usage_traffic add constraint usage_traffic_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table webhook_endpoint_secrets add constraint webhook_endpoint_secrets_endpoint_exists
  FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints(tenant_id, endpoint_id) ON DELETE CASCADE;

alter table webhook_endpoints add constraint webhook_endpoints_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table webhook_secrets add constraint webhook_secrets_webhook_exists
  FOREIGN KEY (tenant_id) REFERENCES webhooks(tenant_id);

alter table webhooks add constraint webhooks_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

CREATE TRIGGER agents_card_goes BEFORE UPDATE ON agents FOR EACH ROW WHEN (old.card IS NOT NULL AND (new.status <> 'active'::text OR old.name IS DISTINCT FROM new.name OR old.description IS DISTINCT FROM new.description OR old.price_credits IS DISTINCT FROM new.price_credits OR old.credits_per_1k_tokens IS DISTINCT FROM new.credits_per_1k_tokens OR old.credits_per_tool_call IS DISTINCT FROM new.credits_per_tool_call OR old.max_minutes IS DISTINCT FROM new.max_minutes OR old.avatar_url IS DISTINCT FROM new.avatar_url OR (old.endpoint IS NULL) IS DISTINCT FROM (new.endpoint IS NULL))) EXECUTE FUNCTION remove_agent_card();

CREATE TRIGGER agents_card_goes_with_key BEFORE UPDATE ON agents FOR EACH ROW WHEN (old.card IS NOT NULL AND old.encryption_key IS DISTINCT FROM new.encryption_key) EXECUTE FUNCTION remove_agent_card();

CREATE TRIGGER artifacts_count_changed_bytes AFTER UPDATE OF bytes ON artifacts FOR EACH ROW WHEN (old.bytes IS DISTINCT FROM new.bytes) EXECUTE FUNCTION count_stored_bytes();

CREATE TRIGGER artifacts_count_new_bytes AFTER INSERT ON artifacts FOR EACH ROW WHEN (new.bytes IS NOT NULL) EXECUTE FUNCTION count_stored_bytes();

CREATE TRIGGER artifacts_count_removed_bytes AFTER DELETE ON artifacts REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_bytes();

CREATE TRIGGER audit_log_is_removed_on_record BEFORE DELETE ON audit_log FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_log_records_removal BEFORE INSERT ON audit_log FOR EACH ROW WHEN (new.operation = 'removeAuditEntries'::text) EXECUTE FUNCTION remove_audit_entries();

CREATE TRIGGER audit_log_stays BEFORE UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER checkouts_returned_credits_fit BEFORE UPDATE ON checkouts FOR EACH ROW WHEN (new.reinstated_amount > 0 AND new.returned_credits > old.returned_credits AND new.returned_credits::numeric <> LEAST(new.credits::numeric, floor(new.credits::numeric * (new.refunded_amount + GREATEST(0::bigint, new.disputed_amount - new.reinstated_amount))::numeric / new.paid_amount::numeric))) EXECUTE FUNCTION leave_to_newer_release();

CREATE TRIGGER epochs_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON epochs FOR EACH STATEMENT EXECUTE FUNCTION refuse_epoch_change();

CREATE TRIGGER ledger_accounts_begin_empty BEFORE INSERT ON ledger_accounts FOR EACH ROW WHEN (new.balance <> 0) EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_accounts_move_by_transfer BEFORE UPDATE ON ledger_accounts FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_accounts_stay BEFORE DELETE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_hold_ends_receipts AFTER INSERT ON ledger_hold_ends REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION receipt_hold_ends();

CREATE TRIGGER ledger_hold_ends_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_hold_ends FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_holds_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_holds FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_recoveries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_recoveries FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_transfers_apply AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION apply_transfers();

CREATE TRIGGER ledger_transfers_only_forget_memos BEFORE UPDATE ON ledger_transfers FOR EACH ROW WHEN (new.memo IS NOT NULL OR old.tenant_id IS DISTINCT FROM new.tenant_id OR old.id IS DISTINCT FROM new.id OR old.kind IS DISTINCT FROM new.kind OR old.from_id IS DISTINCT FROM new.from_id OR old.to_tenant_id IS DISTINCT FROM new.to_tenant_id OR old.to_id IS DISTINCT FROM new.to_id OR old.amount IS DISTINCT FROM new.amount OR old.actor IS DISTINCT FROM new.actor OR old.created_at IS DISTINCT FROM new.created_at) EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_transfers_receipts AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION receipt_transfers();

CREATE TRIGGER ledger_transfers_stay BEFORE DELETE OR TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER receipts_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON receipts FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER rooms_count_removed AFTER DELETE ON rooms REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_removed_rooms();

CREATE TRIGGER rooms_keep_removed_names BEFORE DELETE ON rooms FOR EACH ROW EXECUTE FUNCTION keep_removed_name();

CREATE TRIGGER rooms_names_stay_removed BEFORE INSERT ON rooms FOR EACH ROW EXECUTE FUNCTION refuse_removed_name();

CREATE TRIGGER sweep_leases_keep_payments BEFORE INSERT ON sweep_leases FOR EACH ROW WHEN (new.name = 'erasure of tenants'::text) EXECUTE FUNCTION refuse_sweep_by_ctid();

CREATE TRIGGER sweep_leases_not_by_ctid BEFORE UPDATE ON sweep_leases FOR EACH ROW WHEN (old.name = 'deleted tenants'::text AND new.until IS NOT NULL) EXECUTE FUNCTION refuse_sweep_by_ctid();
