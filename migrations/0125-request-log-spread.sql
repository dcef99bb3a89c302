-- Changes no data. `atrium distribute` refuses a spread database to code with fewer migrations, and code without this one has statements
-- that Citus refuses where the request log is spread (0059).
comment on table request_log_chunks is 'On Citus, spread by tenant.';
