-- A receipt for each grant, sale, refund and loss. A refund or loss in the other direction is a receipt of a kind of its
-- own. A process of the release before writes no purpose.
create or replace function receipt_transfers() returns trigger
language plpgsql
as $$
declare
  made receipts[];
begin
  select array_agg(row(
      t.actor, null, 'rct_' || substr(t.id, 5),
      case
        when t.kind in ('prefund', 'sale') then 'checkout'
        when t.kind = 'refund' and t.from_id = 'platform' then 'reinstatement'
        when t.kind = 'loss' and t.from_id = 'loss' then 'recovery'
        else t.kind
      end,
      coalesce(t.purpose, t.id),
      t.amount, t.amount, t.tenant_id, t.from_id, t.id, case t.kind when 'grant' then o.code_hash end, null, null, null, t.created_at
    )::receipts) into made
  from added t
  -- Looked up for each row: receipt-hold-ends.sql says why.
  cross join lateral (select code_hash from ledger_accounts where tenant_id = t.to_tenant_id and id = t.to_id limit 1) o
  where t.kind in ('grant', 'prefund', 'sale', 'refund', 'loss');
  if made is not null then
    perform add_receipts(made);
  end if;
  return null;
end
$$;
