-- Makes a room of one line. made, exists, removed, or limited: one of the callers has made as many this hour as it may.
create or replace function make_room(room_ text, etag_ text, bytes_ bigint, line_ text, callers_ text[], allowed_ bigint[])
returns text language plpgsql as $$
declare
  hour constant timestamptz := date_trunc('hour', now(), 'UTC');
  counted text[] := '{}';
  outcome text := 'made';
begin
  if exists (select from rooms r where r.room = room_) then return 'exists'; end if;
  -- In the order in which they are given, the narrow ones first: all who count lock these rows in one order.
  for i in 1 .. coalesce(array_length(callers_, 1), 0) loop
    insert into space_use as u (starts_at, what, caller, used) values (hour, 'rooms', callers_[i], 1)
    on conflict on constraint space_use_pkey do update set used = u.used + 1 where u.used < allowed_[i];
    if not found then outcome := 'limited'; exit; end if;
    counted := counted || callers_[i];
  end loop;
  if outcome = 'made' then
    -- Somebody else may have made or removed it since: not an error, and nothing is made.
    insert into rooms (room, count, etag, bytes, policy_seq, policy_hash) values (room_, 1, etag_, bytes_, 0, etag_)
    on conflict on constraint rooms_pkey do nothing;
    if not found then
      outcome := case when exists (select from removed_rooms r where r.room = room_) then 'removed' else 'exists' end;
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
