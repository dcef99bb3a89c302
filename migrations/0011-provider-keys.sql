-- A tenant's own keys for those who run models, sealed: bound to tenant and provider.
create table provider_keys (
  tenant_id text collate "C" not null,
  provider text collate "C" not null,
  key_sealed bytea not null,
  hint text not null,
  url text,
  set_at timestamptz(3) not null default now(),
  constraint provider_keys_pkey primary key (tenant_id, provider),
  constraint provider_keys_tenant_exists foreign key (tenant_id) references tenants (id)
);
