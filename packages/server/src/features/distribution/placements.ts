/**
 * Where the rows of a table are on Citus. PostgreSQL alone keeps every table in one place, and ignores this.
 *
 * - `spread`: over all nodes, by the hash of `column`. Tables of one group have the same shards, so rows with the same
 *   value are on one node: they are joined, written by one function and referred to by foreign keys.
 * - `local`: on the coordinator, for the given reason. Its constraints, triggers and foreign keys stay.
 *   docs/decisions/0066 has the rows and bytes.
 */
export type Placement = { where: 'spread'; by: Spread; replaces?: Replacements } | { where: 'local'; because: string }

/** Tables of a group have the same shards. */
export type Group = 'rooms' | 'tenants'

interface Spread {
  group: Group
  column: string
}

/** What Citus refuses on a table that is spread, and what does its work there. */
interface Replacements {
  /** Triggers, by name: the functions that do the same. */
  triggers?: Readonly<Record<string, string>>
}

const byRoom: Spread = { group: 'rooms', column: 'room' }
const byTenant: Spread = { group: 'tenants', column: 'tenant_id' }

const rare = { where: 'local', because: 'few rows, and rare writes' } as const
const books = {
  where: 'local',
  because: 'the books: a transfer moves credits between two tenants, and triggers keep every balance right',
} as const
const credentials = {
  where: 'local',
  because: 'found by a hash, before the tenant is known; it can be revoked while a node is down',
} as const
const billed = {
  where: 'local',
  because: 'each row begins and ends with a movement in the books, which are on the coordinator',
} as const
const installation = { where: 'local', because: 'of the installation' } as const

const brief = (what: string) => ({ where: 'local', because: `${what}, written with their cause` }) as const
const ofTenant = { where: 'local', because: 'a row for each tenant, written with what is on the coordinator' } as const
const byId = {
  where: 'local',
  because: 'public pages find it by its id alone, also while a node is down; each change is written with an event of the outbox',
} as const
const counts = {
  where: 'local',
  because: 'a few rows for each tenant and day: one statement counts for tenants of all shards',
} as const

const endpoints = {
  where: 'local',
  because: 'a row for each endpoint: one statement finds those of all tenants that are due',
} as const

/** Every table. A test compares this list with the schema, so that a new table needs a decision. */
export const placements = {
  agent_ratings: rare,
  agent_versions: rare,
  agents: rare,
  api_keys: credentials,
  artifact_jobs: billed,
  artifact_uploads: brief('rows of an hour'),
  artifacts: byId,
  audit_log: { where: 'local', because: 'triggers refuse every change; written once for an action of a person' },
  blob_deletion_holds: installation,
  blob_deletions: brief('rows of seconds'),
  blob_folders: installation,
  blob_search: installation,
  books_roots: books,
  books_tiles: books,
  checkouts: billed,
  collections: byId,
  console_links: credentials,
  console_sessions: credentials,
  daily_counts: brief('rows of a day'),
  database_contact: installation,
  epochs: { where: 'local', because: 'found by a bare id, and triggers refuse every change; a few rows for each issuer' },
  event_heads: ofTenant,
  event_outbox: brief('rows of seconds'),
  event_root_tiles: installation,
  event_roots: installation,
  events: { where: 'spread', by: byTenant },
  idempotency_keys: brief('rows of a day'),
  invites: credentials,
  items: { where: 'spread', by: byTenant },
  key_leaks: rare,
  ledger_accounts: books,
  ledger_audits: books,
  ledger_due: books,
  ledger_hold_ends: books,
  ledger_holds: books,
  ledger_proof: books,
  ledger_proved: books,
  ledger_recoveries: books,
  ledger_reversals: books,
  ledger_transfers: books,
  log_checkpoints: installation,
  log_cosignatures: installation,
  log_leaves: installation,
  log_shown: installation,
  log_sources: installation,
  log_tiles: installation,
  log_tree: installation,
  master_key_check: installation,
  members: rare,
  new_rooms: { where: 'spread', by: byRoom },
  operator_credentials: credentials,
  paint_allowances: billed,
  partition_slots: installation,
  platform_keys: installation,
  processes: installation,
  provider_keys: rare,
  receipt_numbers: books,
  receipts: books,
  removed_rooms: { where: 'spread', by: byRoom },
  request_log: { where: 'spread', by: byTenant },
  request_log_chunks: { where: 'spread', by: byTenant },
  restores: installation,
  room_lines: { where: 'spread', by: byRoom },
  rooms: {
    where: 'spread',
    by: byRoom,
    replaces: {
      triggers: {
        rooms_count_removed: 'remove_room and sweep_space subtract the bytes of a room',
        rooms_keep_removed_names: 'free_room reserves the name',
        rooms_names_stay_removed: 'make_room looks for the name',
      },
    },
  },
  sessions: billed,
  space_certificates: installation,
  space_total: { where: 'local', because: 'one row' },
  space_use: { where: 'local', because: 'counts of two days' },
  stored_bytes: ofTenant,
  sweep_leases: installation,
  tenant_deletions: rare,
  tenant_limits: rare,
  tenants: {
    where: 'local',
    because: 'few rows; a reference table could not be written while a node is down, and a tenant must be suspended even then',
  },
  usage_days: counts,
  usage_items: brief('rows of a day'),
  usage_traffic: counts,
  usage_writers: installation,
  webhook_deliveries: { where: 'spread', by: byTenant },
  webhook_endpoint_deliveries: { where: 'spread', by: byTenant },
  webhook_endpoint_secrets: rare,
  webhook_endpoints: endpoints,
  webhook_queues: endpoints,
  webhook_secrets: rare,
  webhooks: endpoints,
} as const satisfies Readonly<Record<string, Placement>>

export type TableName = keyof typeof placements

interface GroupParts {
  /** The table that the others of the group are placed like. */
  root: TableName
  /** The SQL functions that Citus runs on the node of their first argument, `shard_`. */
  functions: readonly string[]
  /** Statement triggers after an insert into tables of the coordinator, by table: the function of the same name. */
  triggers: Readonly<Partial<Record<TableName, string>>>
  /** SQL functions that are called before a table is spread, by table. */
  before: Readonly<Partial<Record<TableName, string>>>
}

export const groups: Readonly<Record<Group, GroupParts>> = {
  rooms: { root: 'rooms', functions: ['append_shard_lines'], triggers: {}, before: {} },
  tenants: {
    root: 'items',
    functions: [],
    triggers: { event_outbox: 'commit_in_two_phases' },
    before: { webhook_deliveries: 'fill_webhook_queues' },
  },
}

/** The tables of the group that are spread already, the root first. */
export function listSpread(group: Group): TableName[] {
  const { root } = groups[group]
  const names = Object.keys(placements) as TableName[]
  const isSpread = (name: TableName) => {
    const placement: Placement = placements[name]
    return placement.where === 'spread' && placement.by.group === group
  }
  return names.filter(isSpread).toSorted((a, b) => Number(b === root) - Number(a === root))
}
