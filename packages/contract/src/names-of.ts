/**
 * The names of a constant table with at least one row, with their type: `Object.keys` answers any string.
 *
 * @example namesOf({ small: 1, large: 2 }) // ['small', 'large'], of type ['small' | 'large', ...]
 */
export function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): [Name, ...Name[]] {
  return Object.keys(table) as [Name, ...Name[]]
}
