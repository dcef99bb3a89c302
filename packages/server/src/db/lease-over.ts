/**
 * SQL: whether nobody holds the lease of the column, which lasts for so many seconds. An end that lies further ahead than
 * any lease could comes from a clock that was set back, and its holder may be gone. Twice the duration, because a
 * statement that waited for the row has an older now() than the one that wrote it. 'infinity' is no time of a clock. The
 * same holds for the end of a pause, with its longest duration.
 */
export function leaseOver(column: string, seconds: number): string {
  return `(${column} is null or ${column} < now()
    or (${column} > now() + interval '${2 * seconds} seconds' and ${column} < 'infinity'))`
}
