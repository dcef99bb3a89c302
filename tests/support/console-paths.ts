import { readFileSync } from 'node:fs'

const console = new URL('../../packages/web/src/console/', import.meta.url)
const tables = { tenant: 'router/pages.ts', operator: 'operator/pages.ts' } as const

/**
 * The paths of every page of the console, from the tables of its router: `/webhooks/:id`. The tables import components,
 * which only the build reads, so they are read as text.
 */
export function pathsOfConsole(kind: keyof typeof tables): string[] {
  const text = readFileSync(new URL(tables[kind], console), 'utf8')
  const paths = [...text.matchAll(/\bpath: '(\/[^']*)'/g)].map(([, path = '']) => path)
  if (paths.length < 12) throw new Error(`${tables[kind]}: only ${paths.length} paths are found`)
  return paths
}
