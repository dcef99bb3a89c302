-- Entries can only be added to the audit log.
create or replace function refuse_audit_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the audit log is only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;
