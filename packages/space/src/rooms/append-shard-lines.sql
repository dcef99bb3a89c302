-- Appends sealed lines to rooms of one shard, to each room all or nothing: only if the room still ends where the
-- caller saw it end, and only if none of the lines is a repeat. Returns moved for rooms that were appended to, locked
-- for rooms whose row another transaction holds, and the repeats with the line that was first. A room that is not
-- returned has grown or was removed.
--
-- shard_ is one of the rooms: Citus runs the call on its node. There, `= any` on each table shows that one shard is
-- enough. These are single statements and not one with several parts: Citus runs the parts of such a statement one
-- by one and connects to all nodes, so that one node that is down would stop the rooms of all others.
--
-- It notifies nobody, because nobody listens on that node: the caller does, after the commit.
create or replace function append_shard_lines(
  shard_ text, rooms_ text[], from_counts int[], from_etags text[], counts int[], etags text[], sizes bigint[], policy_seqs int[],
  policy_hashes text[], line_rooms text[], line_seqs int[], lines text[], dedupes text[]
) returns table (room text, outcome text, dedupe text, seq int)
language plpgsql
as $$
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
$$;
