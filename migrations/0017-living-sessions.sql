-- How many sessions of a tenant live, and how many rooms it has armed: counted at each launch.
create index sessions_living_of_tenant on sessions (tenant_id, status) where status in ('armed', 'launching', 'running', 'stopping');
