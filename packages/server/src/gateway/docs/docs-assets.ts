import { readFile } from 'node:fs/promises'

export const assetPaths = {
  style: '/docs/assets/docs.css',
  script: '/docs/assets/docs.js',
  searchScript: '/docs/assets/search.js',
  search: '/docs/assets/search.json',
}

const read = (name: string) => readFile(new URL(import.meta.resolve(`@atrium/web/${name}`)), 'utf8')

/**
 * The static files of the pages, served unchanged: scripts are JavaScript modules that the browser loads when they
 * are needed. Colours and fonts are those of the Space app.
 */
export const docsAssets: Readonly<Record<string, { type: string; read: () => Promise<string> }>> = {
  [assetPaths.style]: {
    type: 'text/css',
    read: async () => `${await read('space/style/tokens.css')}\n${await read('docs/docs.css')}`,
  },
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
