-- The picture of a provider, which charges for each request, until the blob store has it. After a stop or a kill of the
-- worker, the next attempt stores it instead of a second request. kept_as has what the artifact shows of it.
alter table artifact_jobs add column kept_bytes bytea;
alter table artifact_jobs add column kept_as json;
