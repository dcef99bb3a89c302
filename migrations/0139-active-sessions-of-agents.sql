-- concurrently
create index concurrently sessions_active_of_agent_tenant on sessions (agent_tenant_id) where status in ('launching', 'running', 'stopping');
