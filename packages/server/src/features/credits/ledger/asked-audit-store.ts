import { statement, type Db, type Tx } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'
import type { AuditReport, Finding } from './audit-store.ts'

/** An audit of the books that an operator asked for. */
export interface AskedAudit {
  id: string
  state: 'queued' | 'running' | 'done' | 'failed'
  rulesChecked: number
  accounts: number | null
  transfers: number | null
  credits: number | null
  findingCount: number
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
}

interface Row {
  id: string
  state: AskedAudit['state']
  rules_checked: number
  accounts: number | null
  transfers: number | null
  credits: number | null
  finding_count: number
  created_at: string
  started_at: string | null
  finished_at: string | null
}

const columns = 'id, state, rules_checked, accounts, transfers, credits, finding_count, created_at, started_at, finished_at'

function toAudit(row: Row): AskedAudit {
  const { rules_checked, finding_count, created_at, started_at, finished_at, ...same } = row
  return {
    ...same,
    rulesChecked: rules_checked,
    findingCount: finding_count,
    createdAt: created_at,
    startedAt: started_at,
    finishedAt: finished_at,
  }
}

const insertStatement = statement<Row>(
  'ledger-audits-insert',
  // On conflict: one is queued or running, which another statement then finds.
  `insert into ledger_audits (id) values ($1)
   on conflict ((true)) where state in ('queued', 'running') do nothing returning ${columns}`,
)
const openStatement = statement<Row>(
  'ledger-audits-open',
  `select ${columns} from ledger_audits where state in ('queued', 'running') order by created_at limit 1`,
)
const trimStatement = statement<never>(
  'ledger-audits-trim',
  `delete from ledger_audits where id in (select id from ledger_audits order by created_at desc, id desc offset 100)`,
)

/** Queues an audit and keeps the last 100. Returns undefined if another one is queued or running. */
export async function insertAudit(tx: Tx, id: string): Promise<AskedAudit | undefined> {
  const [row] = await tx.query(insertStatement, [id])
  if (row) await tx.query(trimStatement, [])
  return row && toAudit(row)
}

/** The audit that is queued or running. */
export async function findOpenAudit(db: Db): Promise<AskedAudit | undefined> {
  const [row] = await db.query(openStatement, [])
  return row && toAudit(row)
}

const beginStatement = statement<never>(
  'ledger-audits-begin',
  `update ledger_audits set state = 'running', started_at = now(), rules_checked = 0 where id = $1`,
)

export async function beginAudit(db: Db, id: string): Promise<void> {
  await db.query(beginStatement, [id])
}

const progressStatement = statement<never>(
  'ledger-audits-progress',
  `update ledger_audits set rules_checked = $2 where id = $1 and state = 'running'`,
)

export async function saveAuditProgress(db: Db, id: string, rulesChecked: number): Promise<void> {
  await db.query(progressStatement, [id, rulesChecked])
}

const endStatement = statement<never>(
  'ledger-audits-end',
  `update ledger_audits set state = 'done', finished_at = now(), accounts = $2, transfers = $3, credits = $4, findings = $5,
     finding_count = json_array_length($5)
   where id = $1`,
)

export async function saveAuditReport(db: Db, id: string, report: AuditReport): Promise<void> {
  const { accounts, transfers, credits, findings } = report
  await db.query(endStatement, [id, accounts, transfers, credits, JSON.stringify(findings)])
}

const failStatement = statement<never>(
  'ledger-audits-fail',
  `update ledger_audits set state = 'failed', finished_at = now() where id = $1`,
)

export async function failAudit(db: Db, id: string): Promise<void> {
  await db.query(failStatement, [id])
}

const listStatement = statement<Row>(
  'ledger-audits-list',
  `select ${columns} from ledger_audits where (created_at, id) < ($1::timestamptz, $2)
   order by created_at desc, id desc limit $3`,
)

/** Newest first. */
export async function listAudits(db: Db, after: TimePosition | undefined, limit: number): Promise<AskedAudit[]> {
  return (await db.query(listStatement, [after?.createdAt ?? 'infinity', after?.id ?? '', limit])).map(toAudit)
}

const findStatement = statement<Row & { findings: Finding[] }>(
  'ledger-audits-find',
  `select ${columns}, findings from ledger_audits where id = $1`,
)

/** The audit with its findings. */
export async function findAudit(db: Db, id: string): Promise<{ audit: AskedAudit; findings: Finding[] } | undefined> {
  const [row] = await db.query(findStatement, [id])
  if (!row) return undefined
  const { findings, ...rest } = row
  return { audit: toAudit(rest), findings }
}
