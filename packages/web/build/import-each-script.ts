import type { Plugin, Rolldown } from 'vite'

/**
 * Puts beside each `import()` of a script an `import()` of every further script that it needs. Under `Integrity-Policy`,
 * WebKit loads a script with its hash of the import map if `import()` names it, and refuses what only another script
 * imports. It also lets every browser fetch these scripts at once, not one after the other.
 */
export function importEachScript(): Plugin {
  return {
    name: 'atrium:import-each-script',
    apply: 'build',
    enforce: 'pre',
    load(id) {
      // Vite's own function adds the styles of a script, which are all in the page's file, and tags without a hash.
      return id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null
    },
    renderChunk(code, _chunk, _options, { chunks }) {
      const entries = Object.keys(chunks).filter((path) => chunks[path]?.isEntry)
      const first = withImports(entries, chunks)
      return code.replaceAll(/\bimport\("\.\/([^"]+)"\)/g, (script, name: string) => {
        const [, ...imported] = withImports([`assets/${name}`], chunks)
        const others = imported.filter((path) => !first.has(path)).map((path) => `import("./${path.slice('assets/'.length)}")`)
        return others.length === 0 ? script : `Promise.all([${[script, ...others].join(', ')}]).then(([script]) => script)`
      })
    },
  }
}

/** The scripts, and all that they import. */
function withImports(paths: readonly string[], chunks: Readonly<Record<string, Rolldown.RenderedChunk>>): Set<string> {
  const found = new Set(paths)
  // A set also iterates over what is added meanwhile.
  for (const path of found) for (const imported of chunks[path]?.imports ?? []) found.add(imported)
  return found
}
