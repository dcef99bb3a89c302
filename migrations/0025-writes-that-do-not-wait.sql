-- The batched writes again, so that a batch never waits for a row that somebody holds: it would make the callers of all other rows wait too.
-- What is locked is passed over and told as such; the caller tries it again, by itself. The functions of 0003 and 0012 stay for processes of the
-- release before, which may still run.

-- As add_items of 0012. locked: somebody holds the collection's row; nothing of that item was done.
create function try_add_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (outcome text)
language plpgsql
as $$
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
$$;

-- As append_lines of 0003, and answers too which rooms are locked by somebody: nothing was appended to those. outcome: moved, repeated (with
-- the line that was first) or locked. A room that is in none of them had grown, or gone.
create function try_append_lines(
  rooms_ text[], from_counts int[], from_etags text[], counts int[], etags text[], sizes bigint[], policy_seqs int[], policy_hashes text[],
  line_rooms text[], line_seqs int[], lines text[], dedupes text[]
) returns table (room text, outcome text, dedupe text, seq int)
language plpgsql
as $$
declare
  free_rooms text[];
begin
  select array_agg(f.room) into free_rooms
  from (select r.room from rooms r where r.room = any (rooms_) order by r.room for no key update skip locked) f;

  return query
  with input as (
    select i.* from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
    where i.room = any (free_rooms)
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
  select t.room, 'moved', null::text, null::int from told t
  union all
  select d.room, 'repeated', d.dedupe, d.seq from repeated d
  union all
  select r.room, 'locked', null::text, null::int from rooms r
  where r.room = any (rooms_) and not coalesce(r.room = any (free_rooms), false)
    and not exists (select from repeated d where d.room = r.room);
end
$$;
