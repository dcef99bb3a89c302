import type { Key } from '#features/keys/key.ts'
import type { KeyUseSummary } from '#features/request-log/key-use-store.ts'

/** Where a key was found. */
export interface Place {
  url: string | null
  source: string | null
  first_seen_at: string
}

/** A key that was found in public. */
export interface KeyLeak {
  keyId: string
  /** What the first report did, or a later one that revoked the key. */
  action: 'revoked' | 'notified' | 'ended'
  places: Place[]
  firstSeenAt: string
  lastSeenAt: string
}

/** A key that is in a fork or a mirror is found again and again. */
const maxPlaces = 20

export type Sighting = Pick<Place, 'url' | 'source'>

/** Those of the sightings that are not known, each once, as far as there is room for them. */
export function newPlaces(known: readonly Place[], sightings: readonly Sighting[], at: string): Place[] {
  const nameOf = ({ url, source }: Sighting) => JSON.stringify([url, source])
  const seen = new Set(known.map(nameOf))
  const found = sightings.filter((sighting) => {
    const name = nameOf(sighting)
    return !seen.has(name) && seen.add(name)
  })
  return found.slice(0, Math.max(0, maxPlaces - known.length)).map(({ url, source }) => ({ url, source, first_seen_at: at }))
}

/** The leak as its tenant sees it. */
export function leakView({ keyId, action, places, firstSeenAt, lastSeenAt }: KeyLeak, key: Key, use: KeyUseSummary) {
  return {
    key_id: keyId,
    key_name: key.name,
    key_hint: key.hint,
    action,
    first_seen_at: firstSeenAt,
    last_seen_at: lastSeenAt,
    places,
    requests: {
      count: use.count,
      since: use.since,
      last_at: use.last[0]?.createdAt ?? null,
      origins: use.origins,
      last: use.last.map(({ requestId, createdAt, method, path, status, origin }) => ({
        request_id: requestId,
        created_at: createdAt,
        method,
        path,
        status,
        origin,
      })),
      searched_from: use.searchedFrom,
    },
  }
}
