-- Sales of credits. A checkout is made when the payment page exists, and completed by what the payment provider tells.

-- reference: the provider's own id of the payment. Of the three times, the strongest says how a checkout stands: paid_at, then ended_at
-- (the provider gave up on it), then pending_at (the buyer is done, the money is on its way, which may take longer than expires_at).
-- license_sealed holds the license key from the payment until it is shown, and is then erased.
create table checkouts (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  purpose text not null,
  credits bigint not null,
  provider text not null,
  reference text collate "C" not null,
  url text not null,
  success_url text not null,
  cancel_url text not null,
  license_sealed bytea,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  pending_at timestamptz(3),
  ended_at timestamptz(3),
  paid_at timestamptz(3),
  constraint checkouts_pkey primary key (tenant_id, id),
  constraint checkouts_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint checkouts_purpose_known check (purpose in ('license_key', 'prefund')),
  constraint checkouts_credits_positive check (credits > 0),
  constraint checkouts_provider_known check (provider in ('stripe', 'test')),
  constraint checkouts_license_only_when_paid check (license_sealed is null or (paid_at is not null and purpose = 'license_key'))
);

-- The payment page and the provider's notifications know no tenant: an id alone finds its checkout.
create index checkouts_id on checkouts (id);
