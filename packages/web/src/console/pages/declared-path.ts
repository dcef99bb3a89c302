import { routes } from '@atrium/client/routes'

/** The paths of the contract in segments, as the log has them: without /v1. */
const declared = [...new Set(Object.values(routes).map((route) => pathOf(route)))].map((path) => path.split('/'))

function pathOf(route: string): string {
  return withoutVersion(route.split(' ')[1] ?? '')
}

function withoutVersion(path: string): string {
  return path.replace(/^\/v1(?=\/|$)/, '')
}

const isParameter = (segment: string | undefined) => segment?.startsWith('{') === true

/**
 * Returns the path as the contract declares it, for an address or a path with ids, because the log has declared paths
 * only: `https://atrium.example/v1/collections/col_1/items?limit=5` becomes `/collections/{id}/items`. Text that
 * matches no declared path is returned unchanged.
 */
export function declaredPath(typed: string): string {
  const [address = ''] = typed.split(/[?#]/, 1)
  const path = withoutVersion(address.replace(/^https?:\/\/[^/]+/, '')).replace(/(?<=.)\/$/, '')
  const segments = path.split('/')
  const found = declared
    .filter(
      (one) =>
        one.length === segments.length &&
        one.every((segment, i) => segment === segments[i] || (isParameter(segment) && segments[i] !== '')),
    )
    // `/tenant/keys/leaks` is a declared path, and `leaks` is not the id of a key.
    .toSorted((a, b) => a.filter(isParameter).length - b.filter(isParameter).length)[0]
  return found?.join('/') ?? typed
}
