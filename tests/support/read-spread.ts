import { queryDatabase } from './query-database.ts'

const delivery =
  'sequence, id, status, tries, attempts, response_status, error, created_at, last_attempt_at, next_attempt_at, attempt_log::text'

/** All rows of the tables that `atrium distribute` spreads over the nodes of a Citus cluster and a backup contains. */
export function readSpread(url: string): Promise<unknown> {
  return Promise.all(
    [
      'select room, count, etag, bytes, policy_seq, policy_hash, access_key from rooms order by room',
      'select room, seq, line, dedupe from room_lines order by room, seq',
      'select room from removed_rooms order by room',
      'select made_on::text, room from new_rooms order by room',
      'select tenant_id, collection_id, seq, id, type, content, author, access, created_at from items order by 1, 2, 3',
      `select tenant_id, 'default' as endpoint_id, ${delivery} from webhook_deliveries order by tenant_id, sequence`,
      `select tenant_id, endpoint_id, ${delivery} from webhook_endpoint_deliveries order by tenant_id, endpoint_id, sequence`,
      'select * from events order by tenant_id, sequence',
    ].map((text) => queryDatabase(url, text)),
  )
}
