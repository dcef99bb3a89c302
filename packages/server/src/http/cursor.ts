import { ApiError } from '#errors/api-error.ts'

/**
 * A cursor names its list and a position in it. It is opaque, not secret: it opens nothing, and another list refuses it.
 */
export function makeCursor(list: string, position: number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url')
}

/** The position; 0 without a cursor. Throws invalid_cursor when it is another list's or was tampered with. */
export function readCursor(list: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  const position = Number(text.slice(list.length + 1))
  // Made again and compared: what decodes to the same thing but is not what was given out is refused too.
  if (!Number.isSafeInteger(position) || position < 0 || makeCursor(list, position) !== cursor)
    throw new ApiError('invalid_cursor', { details: [{ path: 'cursor', message: 'does not belong to this list' }] })
  return position
}

/** Cuts the row that was read past the page's end, and makes the cursor of the last one kept. */
export function cutPage<Row extends { seq: number }>(list: string, rows: Row[], limit: number) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last ? makeCursor(list, last.seq) : undefined }
}
