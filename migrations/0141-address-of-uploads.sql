-- A keyed hash of the IP address that announced the upload with a publishable key. One address must not take all open
-- uploads of a tenant.
alter table artifact_uploads add column address text collate "C";
