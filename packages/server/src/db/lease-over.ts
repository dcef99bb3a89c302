/**
 * SQL: whether a lease of so many seconds is over: the column is null, or its time is past. It also counts as over if
 * it ends more than twice its duration ahead: then the clock was set back after it was written, and its holder may be
 * gone. The limit is twice the duration, because the now() of a statement that waited for the row is older than that of
 * the statement that wrote it.
 * 'infinity' is not a time of the clock, so it counts as held. For the end of a pause, `seconds` is the longest pause.
 */
export function leaseOver(column: string, seconds: number): string {
  return `(${column} is null or ${column} < now()
    or (${column} > now() + interval '${2 * seconds} seconds' and ${column} < 'infinity'))`
}
