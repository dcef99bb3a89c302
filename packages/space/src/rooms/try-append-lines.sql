-- As append_room_lines, for processes of the previous release, whose polls expect a notification from here. The next
-- release removes it.
create or replace function try_append_lines(
  rooms_ text[], from_counts int[], from_etags text[], counts int[], etags text[], sizes bigint[], policy_seqs int[], policy_hashes text[],
  line_rooms text[], line_seqs int[], lines text[], dedupes text[]
) returns table (room text, outcome text, dedupe text, seq int)
language plpgsql
as $$
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
$$;
