-- The console: members of a tenant, one-time links that sign in, and sessions of browsers. Of links and sessions only hashes are stored.

-- A member that is removed leaves no row: the audit log and the events say that there was one.
create table members (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  email text collate "C" not null,
  name text,
  role text not null,
  -- The account at the OpenID provider; null until the first sign-in.
  issuer text collate "C",
  subject text collate "C",
  created_at timestamptz(3) not null default now(),
  joined_at timestamptz(3),
  constraint members_pkey primary key (tenant_id, id),
  constraint members_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint members_email_unique unique (tenant_id, email),
  constraint members_account_unique unique (issuer, subject, tenant_id),
  constraint members_role_known check (role in ('owner', 'developer', 'moderator', 'analyst')),
  constraint members_account_whole check ((issuer is null) = (subject is null)),
  constraint members_account_joined check (issuer is null or joined_at is not null)
);

-- kind operator: no tenant. kind tenant: an owner without a member row. kind member: an invitation.
create table console_links (
  secret_hash bytea not null,
  kind text not null,
  tenant_id text collate "C",
  member_id text collate "C",
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  constraint console_links_pkey primary key (secret_hash),
  constraint console_links_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint console_links_member_exists foreign key (tenant_id, member_id) references members (tenant_id, id),
  constraint console_links_kind_known check (kind in ('operator', 'tenant', 'member')),
  constraint console_links_whole check ((kind = 'operator') = (tenant_id is null) and (kind = 'member') = (member_id is not null))
);

create index console_links_of_member on console_links (tenant_id, member_id) where tenant_id is not null;
create index console_links_expire on console_links (expires_at);

-- tenant_id null: of an operator. member_id null: of an owner who signed in with a link of the operator.
create table console_sessions (
  id text collate "C" not null,
  token_hash bytea not null,
  csrf_hash bytea not null,
  tenant_id text collate "C",
  member_id text collate "C",
  address text not null,
  user_agent text,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  constraint console_sessions_pkey primary key (id),
  constraint console_sessions_hash_unique unique (token_hash),
  constraint console_sessions_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint console_sessions_member_exists foreign key (tenant_id, member_id) references members (tenant_id, id),
  constraint console_sessions_member_of_tenant check (member_id is null or tenant_id is not null)
);

create index console_sessions_of_member on console_sessions (tenant_id, member_id);
create index console_sessions_used on console_sessions (last_used_at);
