import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Plugin } from 'vite'

/**
 * Gives each script and style of the page the hash of its bytes. Scripts that are loaded later have theirs in an import
 * map, which is the one inline script of the page. So a browser runs no other bytes than those that the page names.
 */
export function addIntegrity(): Plugin {
  return {
    name: 'atrium:add-integrity',
    apply: 'build',
    // After all files have their final bytes.
    async writeBundle({ dir = '' }) {
      const names = (await readdir(join(dir, 'assets'))).filter((name) => ['.js', '.css'].includes(extname(name))).sort()
      const hashes = await Promise.all(
        names.map(async (name) => [`/space/assets/${name}`, integrityOf(await readFile(join(dir, 'assets', name)))] as const),
      )
      const file = join(dir, 'index.html')
      await writeFile(file, withIntegrity(await readFile(file, 'utf8'), new Map(hashes)))
    },
  }
}

function withIntegrity(html: string, hashes: ReadonlyMap<string, string>): string {
  const scripts = Object.fromEntries([...hashes].filter(([path]) => path.endsWith('.js')))
  const tagged = html.replaceAll(/(<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)")/g, (tag, start: string, path: string) => {
    const hash = hashes.get(path)
    return hash === undefined ? tag : `${start} integrity="${hash}"`
  })
  const map = `<script type="importmap">${JSON.stringify({ integrity: scripts })}</script>\n    `
  return tagged.replace(/<script /, `${map}<script `)
}

function integrityOf(bytes: Uint8Array): string {
  return `sha384-${createHash('sha384').update(bytes).digest('base64')}`
}
