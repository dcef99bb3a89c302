-- The public keys of blind tokens. Everyone reads the same list, so that anyone can check that all got the same key: a row is never changed.

-- The id derives from the key (its RFC 7638 thumbprint) and is unique over all tenants: a token's epoch alone finds who pays for it.
-- seq is the order of the public list, in the order of the commits: publishing locks the table.
create table epochs (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity,
  public_key json not null,
  value bigint not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  constraint epochs_pkey primary key (tenant_id, id),
  constraint epochs_id_unique unique (id),
  constraint epochs_seq_unique unique (seq),
  constraint epochs_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint epochs_value_positive check (value > 0),
  constraint epochs_value_exact check (value <= 9007199254740991)
);

create function refuse_epoch_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: an epoch is set once', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;

create trigger epochs_stay before update or delete or truncate on epochs
  for each statement execute function refuse_epoch_change();
