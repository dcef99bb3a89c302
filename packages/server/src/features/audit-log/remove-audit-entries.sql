-- A removal is itself an entry of the log: an entry of this operation removes entries older than its up_to, and counts them.
-- Entries cannot be removed in any other way. At most 10,000 at a time, so that the statement stays short.
create or replace function remove_audit_entries() returns trigger
language plpgsql
as $$
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
$$;
