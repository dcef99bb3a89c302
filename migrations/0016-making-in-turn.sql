-- What painted a picture, so that it can be made again.
alter table artifacts
  add column provider text,
  add column model text,
  add column seed bigint;

-- Tenants take turns: a job's turn is one after its tenant's last, and not before the turn that is being served now. So who sends many waits
-- behind himself, and who comes with one is served next, however many others wait. Claims read the index from its start.
alter table artifact_jobs add column turn bigint not null default 0;
drop index artifact_jobs_run_at;
create index artifact_jobs_turn on artifact_jobs (turn, run_at);
create index artifact_jobs_taken on artifact_jobs (turn) where lease_owner is not null;
