-- The name of a removed room never returns. Checked by the tables themselves: a create that began while a remove was not committed yet saw
-- neither, waited for the remove at the unique index, and then made an open room where a closed one had been.

create function lock_room_name(room_ text) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended('atrium.room ' || room_, 0))
$$;

-- Each statement of a function looks anew at what is committed: after the lock is had, the remove that held it is seen.
create function refuse_removed_name() returns trigger language plpgsql as $$
begin
  perform lock_room_name(new.room);
  if exists (select from removed_rooms r where r.room = new.room) then return null; end if;
  return new;
end
$$;

create trigger rooms_names_stay_removed before insert on rooms for each row execute function refuse_removed_name();

create function keep_removed_name() returns trigger language plpgsql as $$
begin
  perform lock_room_name(old.room);
  insert into removed_rooms (room) values (old.room) on conflict on constraint removed_rooms_pkey do nothing;
  return old;
end
$$;

create trigger rooms_keep_removed_names before delete on rooms for each row execute function keep_removed_name();

-- Rooms that may never come to be used, and since which day (UTC). Whoever looks for them after some days removes those that still hold their
-- first line alone, and takes the others off this list: that a room is used costs nothing when it is written to.
create table new_rooms (
  made_on date not null,
  room text collate "C" not null,
  constraint new_rooms_pkey primary key (made_on, room)
);

insert into new_rooms (made_on, room) select (now() at time zone 'UTC')::date, room from rooms where count = 1;

-- What addresses used of the Space service: a row an hour (rooms made) or a day (bytes written). caller is a keyed hash of the address or of a
-- network that it is in. Rows are forgotten after two days.
create table space_use (
  starts_at timestamptz(0) not null,
  what text collate "C" not null,
  caller text collate "C" not null,
  used bigint not null,
  constraint space_use_pkey primary key (starts_at, what, caller),
  constraint space_use_what check (what in ('rooms', 'bytes'))
) with (fillfactor = 70);

-- What all rooms hold together: counted with the writes about once a second, and measured anew now and then.
create table space_total (
  only_row boolean not null default true,
  bytes bigint not null,
  constraint space_total_pkey primary key (only_row),
  constraint space_total_one_row check (only_row)
) with (fillfactor = 50);

insert into space_total (bytes) select coalesce(sum(bytes), 0) from rooms;

create function count_removed_rooms() returns trigger language plpgsql as $$
begin
  update space_total set bytes = greatest(0, space_total.bytes - (select coalesce(sum(g.bytes), 0) from gone g))
  where exists (select from gone);
  return null;
end
$$;

create trigger rooms_count_removed after delete on rooms referencing old table as gone
  for each statement execute function count_removed_rooms();

-- Makes a room of one line. made, exists, removed, or limited: one of the callers has made as many this hour as it may.
create function make_room(room_ text, etag_ text, bytes_ bigint, line_ text, callers_ text[], allowed_ bigint[])
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

-- Adds to what callers wrote this day, and to the total. Answers what each has now; under the empty name, the total.
create function count_space_bytes(callers_ text[], bytes_ bigint[], added bigint) returns table (caller text, used bigint) language plpgsql as $$
#variable_conflict use_column
begin
  -- In one order, as every batch and make_room lock them.
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

-- Takes up to batch_ rooms off the list of new ones that were made more than days_ ago, and removes those of them that are still unused: an append
-- at this moment locks the row, and is seen. Forgets what was used long ago. Answers how many are left to look at, at the most batch_; null when
-- another process is at it.
create function sweep_space(days_ integer, batch_ integer) returns integer language plpgsql as $$
declare
  looked integer;
  forgotten integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('atrium.space sweep', 0)) then return null; end if;
  with due as (
    select n.made_on, n.room from new_rooms n
    where days_ > 0 and n.made_on < (now() at time zone 'UTC')::date - days_
    order by n.made_on, n.room limit batch_
  ), taken as (
    delete from new_rooms n using due d where n.made_on = d.made_on and n.room = d.room returning n.room
  ), gone as (
    delete from rooms r using taken t where r.room = t.room and r.count = 1
  )
  select count(*) into looked from taken;
  with old as (
    select u.starts_at, u.what, u.caller from space_use u
    where u.starts_at < now() - interval '2 days' order by u.starts_at, u.what, u.caller limit batch_
  ), taken as (
    delete from space_use u using old o where u.starts_at = o.starts_at and u.what = o.what and u.caller = o.caller returning u.caller
  )
  select count(*) into forgotten from taken;
  return greatest(looked, forgotten);
end
$$;
