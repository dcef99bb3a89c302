/**
 * Returns the value, if the surrounding code guarantees that there is one. Throws an Error with that guarantee if there
 * is none.
 *
 * @example required(rows[0], 'make_room returns one row')
 */
export function required<T>(value: T | undefined, invariant: string): T {
  if (value === undefined) throw new Error(`broken invariant: ${invariant}`)
  return value
}
