-- Creates a room of one line; access_key_ is null if the service seals its lines. Returns made, exists, removed, or limited: one of the callers has created as many
-- rooms this hour as it may.
create or replace function make_room_with_key(
  room_ text, etag_ text, bytes_ bigint, line_ text, access_key_ text, callers_ text[], allowed_ bigint[]
) returns text language plpgsql as $$
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
$$;
