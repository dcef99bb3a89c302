import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export const assetPaths = {
  script: '/docs/assets/docs.js',
  searchScript: '/docs/assets/search.js',
  search: '/docs/assets/search.json',
}

const read = (name: string) => readFile(new URL(import.meta.resolve(`@atrium/web/${name}`)), 'utf8')

/**
 * The style of the pages, which each page contains: on a slow network, a separate style sheet doubles the time until
 * something is seen. Colours and fonts are those of the Space app.
 */
export const docsStyle = ['space/style/tokens.css', 'docs/docs.css']
  .map((name) => readFileSync(new URL(import.meta.resolve(`@atrium/web/${name}`)), 'utf8'))
  .join('\n')

/**
 * The static files of the pages, served unchanged: scripts are JavaScript modules that the browser loads when they
 * are needed.
 */
export const docsAssets: Readonly<Record<string, { type: string; read: () => Promise<string> }>> = {
  [assetPaths.script]: { type: 'text/javascript', read: () => read('docs/docs.js') },
  [assetPaths.searchScript]: { type: 'text/javascript', read: () => read('docs/search.js') },
  '/docs/assets/try-it.js': { type: 'text/javascript', read: () => read('docs/try-it.js') },
}

/** The picture in the preview of a link to any of the pages. */
export const previewPicture = {
  path: '/docs/assets/preview.png',
  type: 'image/png',
  width: 1_280,
  height: 800,
  alt: 'A share page: a quay under paper lanterns at night, above its title',
  read: () => readFile(new URL('../../../../../docs/images/share-page.png', import.meta.url)),
}
