import type { Rolldown } from 'vite'

/**
 * Puts the script of a page and all its static imports into one file. Otherwise each file waits for the one that
 * imports it, and a browser loads six at a time: on a slow network, each six files cost a further round trip.
 */
export function oneFirstFile(main: string): Rolldown.CodeSplittingOptions {
  let first: ReadonlySet<string> | undefined
  const name = (id: string, graph: Rolldown.ChunkingContext) => {
    first ??= importedBy(main, (id) => graph.getModuleInfo(id)?.importedIds ?? [])
    return first.has(id) ? 'index' : null
  }
  return { groups: [{ name }] }
}

function importedBy(main: string, importsOf: (id: string) => readonly string[]): Set<string> {
  const found = new Set([main])
  // A set also iterates over what is added meanwhile.
  for (const id of found) for (const imported of importsOf(id)) found.add(imported)
  return found
}
