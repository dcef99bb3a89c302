-- A receipt for each hold of a session or painting that ended, whether it was charged or not. The purpose
-- of a hold for the budget of a session is the session's id and "/budget".
--
-- The hold and the account are looked up for each row. A plain join is planned once for a connection, while the tables
-- may still be small, and then reads all holds of the payer's tenant: 1,000 sessions took 60 s instead of 8 s.
create or replace function receipt_hold_ends() returns trigger
language plpgsql
as $$
declare
  made receipts[];
begin
  select array_agg(row(
      h.actor, null, 'rct_' || substr(h.id, 5), case when h.purpose like 'ses\_%/budget' then 'budget' when h.purpose like 'ses\_%' then 'session' else 'paint' end,
      split_part(h.purpose, '/', 1),
      h.amount, e.captured, h.tenant_id, h.account_id, h.id, a.code_hash, h.created_at, e.joined_at,
      case left(h.purpose, 4) when 'ses_' then e.ended_at end, e.ended_at
    )::receipts) into made
  from added e
  cross join lateral (select * from ledger_holds where tenant_id = e.tenant_id and id = e.id limit 1) h
  cross join lateral (select code_hash from ledger_accounts where tenant_id = h.tenant_id and id = h.account_id limit 1) a
  where left(h.purpose, 4) in ('ses_', 'art_');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$$;
