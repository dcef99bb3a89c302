/**
 * SQL: whether a lease of so many seconds, which ends at the time in the column, is over. It also counts as over if it
 * ends more than twice its duration ahead: then the clock was set back after it was written, and its holder may be
 * gone. Twice, because a statement that waited for the row has an older now() than the statement that wrote it.
 * 'infinity' is not a time of the clock, so it counts as held. For the end of a pause, `seconds` is the longest pause.
 */
export function leaseOver(column: string, seconds: number): string {
  return `(${column} is null or ${column} < now()
    or (${column} > now() + interval '${2 * seconds} seconds' and ${column} < 'infinity'))`
}
