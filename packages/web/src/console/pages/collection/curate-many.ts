import { AtriumError } from '@atrium/client/atrium-error'
import { api } from '../../api/api.ts'
import { failureOf } from '../../api/failure.ts'
import { formatNumber } from '../../components/format.tsx'

/** What is done to each of several items. */
export type ManyChange = { patch: { approved: boolean } | { archived: boolean } } | { delete: true }

export interface Outcome {
  changed: string[]
  /** They were so already. */
  unchanged: string[]
  /** They are not in the collection any more. */
  gone: string[]
  /** The request for them failed. */
  failed: string[]
  /** The last error. */
  error: unknown
}

/** The most items of one call. */
export const MAX_ITEMS = 500

/**
 * Changes several items. A call changes all of its items or none, so the ones that somebody else has deleted are left
 * out, and the rest is sent again.
 */
export async function curateMany(collectionId: string, ids: readonly string[], change: ManyChange): Promise<Outcome> {
  const outcome: Outcome = { changed: [], unchanged: [], gone: [], failed: [], error: undefined }
  for (let at = 0; at < ids.length; at += MAX_ITEMS) await send(collectionId, ids.slice(at, at + MAX_ITEMS), change, outcome)
  return outcome
}

async function send(id: string, chunk: readonly string[], change: ManyChange, outcome: Outcome): Promise<void> {
  let left = [...chunk]
  while (left.length > 0) {
    try {
      const { data } = await api.curateItems({ id, body: { ids: left, ...change } })
      for (const { id, status } of data.results) (status === 'unchanged' ? outcome.unchanged : outcome.changed).push(id)
      return
    } catch (error) {
      outcome.error = error
      const gone = namedIn(error, left)
      if (gone.size === 0) return void outcome.failed.push(...left)
      outcome.gone.push(...gone)
      left = left.filter((one) => !gone.has(one))
    }
  }
}

/** The ids that the error names by their place in the list. */
function namedIn(error: unknown, ids: readonly string[]): Set<string> {
  const details = error instanceof AtriumError ? error.details : []
  const places = details.map(({ path }) => /^\/ids\/(\d+)$/.exec(path)?.[1])
  return new Set(places.flatMap((place) => (place === undefined ? [] : (ids[Number(place)] ?? []))))
}

/** "12 approved, 3 were so already, 1 failed: it is not in the collection any more." */
export function outcomeWords(word: string, { changed, unchanged, gone, failed, error }: Outcome): string {
  const were = unchanged.length === 1 ? 'was' : 'were'
  const parts = [
    ...(changed.length > 0 ? [`${formatNumber(changed.length)} ${word}`] : []),
    ...(unchanged.length > 0 ? [`${formatNumber(unchanged.length)} ${were} so already`] : []),
    ...(gone.length > 0
      ? [`${formatNumber(gone.length)} failed: ${gone.length === 1 ? 'it is' : 'they are'} not in the collection any more`]
      : []),
    ...(failed.length > 0 ? [`${formatNumber(failed.length)} failed: ${failureOf(error).message}`] : []),
  ]
  return parts.join(', ')
}
