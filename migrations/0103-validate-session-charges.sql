-- Reads the table without blocking writes.
alter table sessions validate constraint sessions_charged_fits;
