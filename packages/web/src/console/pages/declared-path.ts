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
 * The path of the contract that somebody means who pastes an address or a path with its ids. The log knows only the former:
 * `https://atrium.example/v1/collections/col_1/items?limit=5` is `/collections/{id}/items`. What matches nothing stays as it is.
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
    // `/tenant/keys/leaks` is its own path, and not a key with that id.
    .toSorted((a, b) => a.filter(isParameter).length - b.filter(isParameter).length)[0]
  return found?.join('/') ?? typed
}
