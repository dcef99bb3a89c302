-- Adds bytes to what callers wrote this day, and to the total. Returns the sums of each; the total has an empty
-- name.
create or replace function count_space_bytes(callers_ text[], bytes_ bigint[], added bigint) returns table (caller text, used bigint) language plpgsql as $$
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
$$;
