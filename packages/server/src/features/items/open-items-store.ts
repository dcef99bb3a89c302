import { statement, type Db } from '#db/database.ts'

export interface OpenItem {
  id: string
  seq: number
  type: string
  content: unknown
  author: string | null
  hero: boolean
  createdAt: string
}

interface Row extends Omit<OpenItem, 'createdAt'> {
  created_at: string
  beyond: boolean
}

export type ItemOrder = 'newest' | 'oldest'

export interface OpenPage {
  order: ItemOrder
  /** Only items of this type. */
  type?: string | undefined
  /** The seq after which the page begins, in its order. */
  after: number
  limit: number
  /** The page ends with the item whose content reaches this size. */
  maxBytes: number
}

/**
 * One statement for each order, of all types and of one: each is served by an index alone, however many items there
 * are.
 */
function pageStatement(order: ItemOrder, ofType: boolean) {
  const [comparison, direction] = order === 'newest' ? ['<', 'desc'] : ['>', 'asc']
  return statement<Row>(
    `items-open-${order}${ofType ? '-of-type' : ''}`,
    `select id, seq, type, content, author, hero, created_at, coalesce(bytes_before, 0) >= $5 as beyond from (
       select i.*,
         sum(bytes) over (order by seq ${direction} rows between unbounded preceding and 1 preceding) as bytes_before,
         sum(bytes) over (order by seq ${direction} rows between unbounded preceding and 2 preceding) as bytes_before_last
       from (
         select id, seq, type, content, author, hero, created_at, octet_length(content::text) as bytes
         from items
         where tenant_id = $1 and collection_id = $2 and approved and not archived and access = 'open' and seq ${comparison} $3
           ${ofType ? 'and type = $6' : ''}
         order by seq ${direction} limit $4
       ) i
     ) i
     where coalesce(bytes_before_last, 0) < $5 order by seq ${direction}`,
  )
}

const statements = {
  newest: { all: pageStatement('newest', false), ofType: pageStatement('newest', true) },
  oldest: { all: pageStatement('oldest', false), ofType: pageStatement('oldest', true) },
}

/**
 * The items of the page and the one after it, if there is one; `end` is that one's index where the page ends by its
 * size.
 */
export async function listOpenItems(
  db: Db,
  tenantId: string,
  collectionId: string,
  { order, type, after, limit, maxBytes }: OpenPage,
): Promise<{ items: OpenItem[]; end: number | undefined }> {
  const values = [tenantId, collectionId, after, limit + 1, maxBytes]
  const rows =
    type === undefined
      ? await db.query(statements[order].all, values)
      : await db.query(statements[order].ofType, [...values, type])
  const end = rows.findIndex(({ beyond }) => beyond)
  const items = rows.map(({ created_at: createdAt, ...same }) => ({ ...same, createdAt }))
  return { items, end: end === -1 ? undefined : end }
}
