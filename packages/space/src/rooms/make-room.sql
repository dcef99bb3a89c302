-- As make_room_with_key, for processes of the previous release. The next release removes it.
create or replace function make_room(room_ text, etag_ text, bytes_ bigint, line_ text, callers_ text[], allowed_ bigint[])
returns text language sql as $$
  select make_room_with_key(room_, etag_, bytes_, line_, null, callers_, allowed_)
$$;
