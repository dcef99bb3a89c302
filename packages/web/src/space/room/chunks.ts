import type { Entry } from '@atrium/room-client/space-ops'

/** Neighbouring messages that are rendered, measured and skipped together. */
export interface Chunk {
  readonly index: number
  readonly entries: readonly Entry[]
}

export const CHUNK_LINES = 32

/** Adds entries to the chunks. Chunks that get none stay the same objects, so that they need not render again. */
export function mergeEntries(chunks: readonly Chunk[], added: readonly Entry[]): readonly Chunk[] {
  const changed = new Map<number, Entry[]>()
  for (const entry of added) {
    const index = Math.floor(entry.seq / CHUNK_LINES)
    const group = changed.get(index)
    if (group) group.push(entry)
    else changed.set(index, [entry])
  }
  const merged: Chunk[] = []
  for (const chunk of chunks) {
    const more = changed.get(chunk.index)
    changed.delete(chunk.index)
    merged.push(more ? grow(chunk, more) : chunk)
  }
  for (const [index, entries] of changed) merged.push(grow({ index, entries: [] }, entries))
  return merged.sort((a, b) => a.index - b.index)
}

function grow(chunk: Chunk, more: readonly Entry[]): Chunk {
  const known = new Set(chunk.entries.map(({ seq }) => seq))
  const entries = [...chunk.entries]
  for (const entry of more) {
    if (known.has(entry.seq)) continue
    known.add(entry.seq)
    entries.push(entry)
  }
  if (entries.length === chunk.entries.length) return chunk
  return { index: chunk.index, entries: entries.sort((a, b) => a.seq - b.seq) }
}
