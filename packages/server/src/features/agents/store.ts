import { statement, type Db, type Tx } from '#db/database.ts'
import type { Agent, CatalogEntry, Manifest } from './agent.ts'
import type { AgentStatus } from './status.ts'

interface CatalogRow {
  tenant_id: string
  id: string
  seq: number
  name: string
  description: string
  price_credits: number
  credits_per_1k_tokens: number
  credits_per_tool_call: number
  max_minutes: number
  avatar_url: string | null
  is_remote: boolean
  encryption_key: CatalogEntry['encryptionKey']
  rating_sum: number
  rating_count: number
  card: string | null
  card_salt: string | null
}

interface Row extends CatalogRow {
  instructions: string
  model: Agent['model']
  endpoint: string | null
  tools: Agent['tools']
  tool_secrets: Buffer | null
  signing_secret: Buffer | null
  greeting: string | null
  status: Agent['status']
  status_before: Agent['statusBefore']
  raised_from: number | null
  created_at: string
  updated_at: string
}

const catalogColumns = `tenant_id, id, seq, name, description, price_credits, credits_per_1k_tokens,
  credits_per_tool_call, max_minutes, avatar_url,
  endpoint is not null as is_remote, case when endpoint is not null then encryption_key end as encryption_key, rating_sum, rating_count, card, card_salt`
/**
 * A buyer may still be looking at the price from before a raise, so that a launch within ten minutes compares with it.
 */
const raisedFrom = `case when price_raised_at > now() - interval '10 minutes' then price_before end`
const columns = `${catalogColumns}, instructions, model, endpoint, tools, tool_secrets, signing_secret, greeting, status, status_before, created_at, updated_at,
  ${raisedFrom} as raised_from`

function toCatalogEntry(row: CatalogRow): CatalogEntry {
  const { tenant_id: tenantId, id, seq, name, description } = row
  return {
    tenantId,
    id,
    seq,
    name,
    description,
    priceCredits: row.price_credits,
    creditsPer1kTokens: row.credits_per_1k_tokens,
    creditsPerToolCall: row.credits_per_tool_call,
    maxMinutes: row.max_minutes,
    avatarUrl: row.avatar_url,
    isRemote: row.is_remote,
    encryptionKey: row.encryption_key,
    ratingSum: row.rating_sum,
    ratingCount: row.rating_count,
    card: row.card,
    cardSalt: row.card_salt,
  }
}

/** What a statement wrote, with `returning`. */
function written(id: string, [row]: Row[]): Agent {
  if (!row) throw new Error(`agent ${id} was not written`)
  return toAgent(row)
}

function toAgent(row: Row): Agent {
  const { instructions, model, endpoint, tools, greeting, status } = row
  return {
    ...toCatalogEntry(row),
    instructions,
    model,
    endpoint,
    tools,
    toolSecrets: row.tool_secrets,
    signingSecret: row.signing_secret,
    greeting,
    status,
    statusBefore: row.status_before,
    raisedFromCredits: row.raised_from,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The parameters of insert and update from $3 on. */
function manifestValues(manifest: Manifest): unknown[] {
  const { name, description, instructions, model, endpoint, tools, toolSecrets, signingSecret } = manifest
  const { priceCredits, maxMinutes, greeting, avatarUrl } = manifest
  const modelJson = model && JSON.stringify(model)
  const toolsJson = JSON.stringify(tools)
  return [
    name,
    description,
    instructions,
    modelJson,
    endpoint,
    toolsJson,
    toolSecrets,
    priceCredits,
    maxMinutes,
    greeting,
    avatarUrl,
    signingSecret,
    manifest.creditsPer1kTokens,
    manifest.creditsPerToolCall,
    manifest.encryptionKey && JSON.stringify(manifest.encryptionKey),
  ]
}

const insertStatement = statement<Row>(
  'agents-insert',
  `insert into agents (tenant_id, id, name, description, instructions, model, endpoint, tools, tool_secrets, price_credits, max_minutes,
     greeting, avatar_url, signing_secret, credits_per_1k_tokens, credits_per_tool_call, encryption_key)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
   returning ${columns}`,
)

export async function insertAgent(tx: Tx, tenantId: string, id: string, manifest: Manifest): Promise<Agent> {
  return written(id, await tx.query(insertStatement, [tenantId, id, ...manifestValues(manifest)]))
}

const listStatement = statement<Row>(
  'agents-list',
  `select ${columns} from agents where tenant_id = $1 and seq > $2 order by seq limit $3`,
)

interface AgentOfTenant {
  id: string
  tenant_id: string
  name: string
  status: Agent['status']
}

interface Page {
  afterSeq: number
  limit: number
}

export async function listAgents(db: Db, tenantId: string, { afterSeq, limit }: Page): Promise<Agent[]> {
  return (await db.query(listStatement, [tenantId, afterSeq, limit])).map(toAgent)
}

const listAllStatement = statement<AgentOfTenant & { seq: number }>(
  'agents-list-all',
  'select id, tenant_id, seq, name, status from agents where seq > $1 order by seq limit $2',
)

/** Of all tenants. */
export async function listAgentsOfAllTenants(db: Db, { afterSeq, limit }: Page): Promise<(AgentOfTenant & { seq: number })[]> {
  return db.query(listAllStatement, [afterSeq, limit])
}

const findText = `select ${columns} from agents where tenant_id = $1 and id = $2`
const findStatement = statement<Row>('agents-find', findText)
const lockStatement = statement<Row>('agents-lock', `${findText} for no key update`)
const shareStatement = statement<Row>('agents-share', `${findText} for share`)

export async function findAgent(db: Db, tenantId: string, id: string): Promise<Agent | undefined> {
  const [row] = await db.query(findStatement, [tenantId, id])
  return row && toAgent(row)
}

/** Reads and locks the row for a change that depends on it; concurrent changes wait. */
export async function findAgentForUpdate(tx: Tx, tenantId: string, id: string): Promise<Agent | undefined> {
  const [row] = await tx.query(lockStatement, [tenantId, id])
  return row && toAgent(row)
}

/** Nobody changes the agent until the transaction ends; several transactions may hold this lock at once. */
export async function findAgentForShare(tx: Tx, tenantId: string, id: string): Promise<Agent | undefined> {
  const [row] = await tx.query(shareStatement, [tenantId, id])
  return row && toAgent(row)
}

const findAnyStatement = statement<Row>('agents-find-any', `select ${columns} from agents where id = $1`)

/** The agent with this id, of any tenant: the caller checks the tenant. */
export async function findAgentOfAnyTenant(db: Db, id: string): Promise<Agent | undefined> {
  const [row] = await db.query(findAnyStatement, [id])
  return row && toAgent(row)
}

const updateStatement = statement<Row>(
  'agents-update',
  `update agents set name = $3, description = $4, instructions = $5, model = $6, endpoint = $7, tools = $8, tool_secrets = $9,
     price_credits = $10, max_minutes = $11, greeting = $12, avatar_url = $13, signing_secret = $14, credits_per_1k_tokens = $15,
     credits_per_tool_call = $16, encryption_key = $17, updated_at = now(),
     -- A raise keeps the lowest price that a buyer may still be looking at; least() ignores null.
     price_before = case when $10 > price_credits then least(price_credits, ${raisedFrom}) when $10 > price_before then price_before end,
     price_raised_at = case when $10 > price_credits then now() when $10 > price_before then price_raised_at end
   where tenant_id = $1 and id = $2
   returning ${columns}`,
)

export async function updateAgent(tx: Tx, tenantId: string, id: string, manifest: Manifest): Promise<Agent> {
  return written(id, await tx.query(updateStatement, [tenantId, id, ...manifestValues(manifest)]))
}

const statusStatement = statement<Row>(
  'agents-status',
  `update agents set status = $3, status_before = $4, updated_at = now() where tenant_id = $1 and id = $2 returning ${columns}`,
)

export async function updateAgentStatus(
  tx: Tx,
  tenantId: string,
  id: string,
  { status, statusBefore }: AgentStatus,
): Promise<Agent> {
  return written(id, await tx.query(statusStatement, [tenantId, id, status, statusBefore]))
}

const catalogStatement = statement<CatalogRow>(
  'agents-catalog',
  `select ${catalogColumns} from agents where status = 'active' and seq > $1 order by seq limit $2`,
)

/** The active agents of all tenants. */
export async function listCatalogEntries(db: Db, { afterSeq, limit }: Page): Promise<CatalogEntry[]> {
  return (await db.query(catalogStatement, [afterSeq, limit])).map(toCatalogEntry)
}

// An agent is logged at most once in ten minutes.
const withoutCard = `from agents
   where status = 'active' and card is null and (carded_at is null or carded_at < now() - interval '10 minutes')`

const lackCardsStatement = statement<{ lack: boolean }>('agents-lack-cards', `select exists (select ${withoutCard}) as lack`)

/** Whether the transparency log has no card of an active agent. */
export async function areCardsMissing(db: Db): Promise<boolean> {
  return (await db.query(lackCardsStatement, []))[0]?.lack === true
}

const withoutCardStatement = statement<CatalogRow>(
  'agents-without-card',
  // Whoever is being changed is read by the next sweep.
  `select ${catalogColumns} ${withoutCard} order by seq limit $1 for no key update skip locked`,
)

/** Locks active agents that the transparency log has no card of. */
export async function listAgentsWithoutCard(tx: Tx, limit: number): Promise<CatalogEntry[]> {
  return (await tx.query(withoutCardStatement, [limit])).map(toCatalogEntry)
}

const saveCardsStatement = statement<never>(
  'agents-save-cards',
  `update agents a set card = made.card, card_salt = made.salt, carded_at = now()
   from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as made (tenant_id, id, card, salt)
   where a.tenant_id = made.tenant_id and a.id = made.id`,
)

interface NewCard {
  tenantId: string
  id: string
  card: string
  salt: string
}

/** The rows are those that `listAgentsWithoutCard` has locked. */
export async function saveCards(tx: Tx, cards: readonly NewCard[]): Promise<void> {
  const columnsOf = (name: keyof NewCard) => cards.map((card) => card[name])
  await tx.query(saveCardsStatement, [columnsOf('tenantId'), columnsOf('id'), columnsOf('card'), columnsOf('salt')])
}

const rateStatement = statement<{ created_at: string }>(
  'agents-rate',
  `with rated as (
     insert into agent_ratings (tenant_id, agent_id, session_id, stars) values ($1, $2, $3, $4)
     on conflict on constraint agent_ratings_pkey do nothing
     returning stars, created_at
   ), summed as (
     update agents set rating_sum = rating_sum + rated.stars, rating_count = rating_count + 1
     from rated where tenant_id = $1 and id = $2
   )
   select created_at from rated`,
)

/** undefined: the session has rated already. The tenant is the agent's. */
export async function insertRating(
  tx: Tx,
  tenantId: string,
  agentId: string,
  { sessionId, stars }: { sessionId: string; stars: number },
): Promise<{ createdAt: string } | undefined> {
  const [row] = await tx.query(rateStatement, [tenantId, agentId, sessionId, stars])
  return row && { createdAt: row.created_at }
}
