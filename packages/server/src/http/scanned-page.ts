/**
 * A row of a scan that reads a bounded number of rows and returns those that match, and the last row that it read.
 */
export interface ScannedRow {
  matches: boolean
  /** The scan ended here because of its bounds; the rows after it were not read. */
  is_end: boolean
}

/** The number of small rows that one call reads. Reading them takes about 150 ms. */
export const maxScannedRows = 50_000

/**
 * Cuts a page out of up to `limit + 1` rows. `last` is the row after which the next page begins; undefined: this is
 * the last page.
 */
export function scannedPage<Row extends ScannedRow>(rows: Row[], limit: number): { page: Row[]; last: Row | undefined } {
  const matching = rows.filter(({ matches }) => matches)
  const page = matching.slice(0, limit)
  if (matching.length > limit) return { page, last: page.at(-1) }
  const final = rows.at(-1)
  return { page, last: final?.is_end ? final : undefined }
}
