import { createHash } from 'node:crypto'
import { ApiError } from '#errors/api-error.ts'

/**
 * A cursor contains its list and a position. It is opaque but not secret: it grants nothing, and another list rejects
 * it.
 */
export function makeCursor(list: string, position: number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url')
}

/** The position; 0 without a cursor. Throws invalid_cursor if the cursor belongs to another list or was altered. */
export function readCursor(list: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  const position = Number(text.slice(list.length + 1))
  // Encoded again and compared, so that other encodings of the same cursor are rejected.
  if (!Number.isSafeInteger(position) || position < 0 || makeCursor(list, position) !== cursor) throw wrongList()
  return position
}

/** A place in a list that is ordered by time: rows of the same millisecond are ordered by their ids. */
export interface TimePosition {
  createdAt: string
  id: string
}

/** Not of the year 0, which PostgreSQL does not have. */
const time = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** `Date` takes a day that its month does not have for one of the next month, and PostgreSQL rejects it. */
function isTime(text: string): boolean {
  // toJSON, because toISOString throws for what is no time at all.
  return time.test(text) && new Date(text).toJSON() === text
}

/** PostgreSQL has no text with U+0000. */
function isText(id: string): boolean {
  return !id.includes('\0')
}

export function makeTimeCursor(list: string, { createdAt, id }: TimePosition): string {
  return Buffer.from(`${list}:${createdAt} ${id}`).toString('base64url')
}

/** The position; undefined without a cursor. Throws invalid_cursor, as readCursor does. */
export function readTimeCursor(list: string, cursor: string | undefined): TimePosition | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [createdAt = '', id = ''] = text.slice(list.length + 1).split(' ')
  const position = { createdAt, id }
  if (!isTime(createdAt) || !isText(id) || makeTimeCursor(list, position) !== cursor) throw wrongList()
  return position
}

/** A place in a list that is ordered by a number: rows with the same number are ordered by their ids. */
export interface NumberPosition {
  value: number
  id: string
}

export function makeNumberCursor(list: string, { value, id }: NumberPosition): string {
  return Buffer.from(`${list}:${value} ${id}`).toString('base64url')
}

/** The position; undefined without a cursor. Throws invalid_cursor, as readCursor does. */
export function readNumberCursor(list: string, cursor: string | undefined): NumberPosition | undefined {
  if (cursor === undefined) return undefined
  const [number = '', id = ''] = Buffer.from(cursor, 'base64url')
    .toString()
    .slice(list.length + 1)
    .split(' ')
  const position = { value: Number(number), id }
  const { value } = position
  if (!Number.isSafeInteger(value) || value < 0 || !isText(id) || makeNumberCursor(list, position) !== cursor) throw wrongList()
  return position
}

function wrongList(): ApiError {
  return new ApiError('invalid_cursor', { details: [{ path: '/cursor', message: 'does not belong to this list' }] })
}

/**
 * The name of a list that is filtered, for its cursors: a cursor of one filter is not good for another. The same
 * filters name the same list, in whatever order they were sent.
 */
export function filteredList(list: string, filters: Record<string, unknown>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return list
  const text = JSON.stringify(given.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return `${list}:${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
}

/** Drops the extra row that shows whether there is a next page, and makes the cursor of the last row on this page. */
export function cutPageBy<Row>(rows: Row[], limit: number, cursorAfter: (last: Row) => string | undefined) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last ? cursorAfter(last) : undefined }
}

/** cutPageBy for rows that are ordered by their sequence. */
export function cutPage<Row extends { seq: number }>(list: string, rows: Row[], limit: number) {
  return cutPageBy(rows, limit, ({ seq }) => makeCursor(list, seq))
}

/** cutPageBy for rows that are ordered by their time. */
export function cutTimePage<Row extends TimePosition>(list: string, rows: Row[], limit: number) {
  return cutPageBy(rows, limit, (last) => makeTimeCursor(list, last))
}
