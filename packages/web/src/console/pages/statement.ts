import { api } from '../api/api.ts'
import { toCsv } from '../components/csv.ts'
import { download } from '../components/download.ts'
import type { Movement } from './credits.tsx'

const PAGE = 200

/** Reads every movement of the kind, or all, and offers them as a CSV file, newest first. */
export async function downloadStatement(kind: Movement['kind'] | undefined): Promise<void> {
  const rows: Movement[] = []
  for (let cursor: string | undefined; ;) {
    const query = { limit: PAGE, ...(kind === undefined ? {} : { kind }), ...(cursor === undefined ? {} : { cursor }) }
    const { data, nextCursor } = await api.listMovements({ query })
    rows.push(...data)
    if (nextCursor === undefined) break
    cursor = nextCursor
  }
  const csv = toCsv(
    ['id', 'created_at', 'kind', 'from', 'to', 'credits', 'memo'],
    rows.map(({ id, created_at, kind: what, from, to, amount, memo }) => [id, created_at, what, from, to, amount, memo]),
  )
  download(`statement-${new Date().toISOString().slice(0, 10)}.csv`, csv, 'text/csv')
}
