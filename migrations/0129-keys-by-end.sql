-- concurrently
-- A page of the keys of a tenant begins with those that end last. A tenant may have many keys that ended long ago.
create index concurrently api_keys_by_end on api_keys (
  tenant_id, coalesce(least(expires_at, revoked_at), timestamptz '9999-12-31T23:59:59.999Z') desc, id desc
);
