/** A row of a scan that reads a bounded number of rows and returns those that match, and the one that it ended with. */
export interface ScannedRow {
  matches: boolean
  /** The scan ended here by its bounds: what follows was not read. */
  is_end: boolean
}

/** What one call reads at the most of rows that are small. It takes some 150 ms. */
export const maxScannedRows = 50_000

/**
 * Cuts a page out of up to `limit + 1` rows. `last`: the row after which the next page begins; undefined: nothing
 * follows.
 */
export function scannedPage<Row extends ScannedRow>(rows: Row[], limit: number): { page: Row[]; last: Row | undefined } {
  const matching = rows.filter(({ matches }) => matches)
  const page = matching.slice(0, limit)
  if (matching.length > limit) return { page, last: page.at(-1) }
  const final = rows.at(-1)
  return { page, last: final?.is_end ? final : undefined }
}
