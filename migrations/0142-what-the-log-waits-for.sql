-- waiting: why nothing is signed for now. refused_origin: the log that must not be signed any more. Another address of the installation is
-- another log. null: the refusal is older than this column, and is of every address.
alter table log_tree add column waiting text, add column refused_origin text collate "C";
