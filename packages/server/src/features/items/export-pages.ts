import { Semaphore } from '@atrium/traffic/semaphore'
import type { Db } from '#db/database.ts'
import { scannedPage } from '#http/scanned-page.ts'
import { itemView, type Item } from './item.ts'
import { countWithin, findSeqRange, searchItems, type ItemFilters, type SeqRange } from './search-store.ts'
import { listItemsBySeq, listItemsWithin } from './store.ts'

/** A page ends with the item whose content reaches this size: a slow reader keeps its page in memory. */
const pageBytes = 256 * 1024
/** So many of the largest items are 1 MiB, which the database reads even where the page ends sooner. */
const minRows = 16
const maxRows = 500

/** At most so many pages of exports are read at the same time in a process: most connections are for short calls. */
const pageTurns = new Semaphore(2)

interface Exported {
  tenantId: string
  collectionId: string
  filters: ItemFilters | undefined
  /** The place of the last item to be exported: what is added later does not belong to the export. */
  lastSeq: number
}

interface ExportPage {
  /** A line of JSON for each item. */
  lines: Buffer
  items: number
}

/**
 * The items up to `lastSeq`, oldest first. A page is read when it is asked for, by queries of its own: between two pages the export
 * holds no connection and no snapshot of the database. A page may be empty.
 */
export async function* exportPages(db: Db, exported: Exported): AsyncGenerator<ExportPage, void, undefined> {
  const { tenantId, collectionId, filters, lastSeq } = exported
  const end = lastSeq + 1
  const range = filters ? await findSeqRange(db, tenantId, collectionId, filters) : { after: 0, before: end }
  range.before = Math.min(range.before, end)
  for (let limit = minRows; range.after + 1 < range.before;) {
    const { items, last } = await pageTurns.run(() => readPage(db, exported, range, limit))
    const lines = Buffer.from(items.map((item) => `${JSON.stringify(itemView(item))}\n`).join(''))
    yield { lines, items: items.length }
    if (last === undefined) return
    range.after = last
    if (items.length > 0) limit = rowsOf(lines.length / items.length)
  }
}

/** How many items of this size make a page. */
function rowsOf(bytesEach: number): number {
  return Math.min(maxRows, Math.max(minRows, Math.floor(pageBytes / bytesEach)))
}

interface Read {
  items: Item[]
  /** The seq after which the next page begins; undefined: nothing follows. */
  last: number | undefined
}

function readPage(db: Db, exported: Exported, range: SeqRange, limit: number): Promise<Read> {
  const { filters, ...of } = exported
  return filters ? readFiltered(db, of, filters, range, limit) : readPlain(db, of, range, limit)
}

type Of = Pick<Exported, 'tenantId' | 'collectionId'>

async function readPlain(db: Db, { tenantId, collectionId }: Of, { after, before }: SeqRange, limit: number): Promise<Read> {
  const bounds = { afterSeq: after, limit: limit + 1, maxBytes: pageBytes }
  const { items: rows, end = limit } = await listItemsWithin(db, tenantId, collectionId, bounds)
  const items = rows.slice(0, end).filter(({ seq }) => seq < before)
  return { items, last: rows.length > end ? items.at(-1)?.seq : undefined }
}

async function readFiltered(
  db: Db,
  { tenantId, collectionId }: Of,
  filters: ItemFilters,
  range: SeqRange,
  limit: number,
): Promise<Read> {
  const found = await searchItems(db, tenantId, collectionId, { filters, order: 'oldest', range, limit: limit + 1 })
  const { page, last } = scannedPage(found, Math.min(limit, countWithin(found, pageBytes)))
  const seqs = page.map(({ seq }) => seq)
  const items = seqs.length === 0 ? [] : await listItemsBySeq(db, tenantId, collectionId, seqs)
  return { items, last: last?.seq }
}
