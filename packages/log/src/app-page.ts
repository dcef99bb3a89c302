import { sha256 as hash } from '#crypto'
import { toHex } from './bytes.ts'

/** The page of the Space app as it was served, with the files that it names and the code that the service certifies. */
export interface ServedApp {
  page: Uint8Array
  /** By path, such as /space/assets/app-1.js. */
  files: ReadonlyMap<string, Uint8Array>
  /** `functionCodeSha256` of the certificate. */
  code: string
}

const maxFiles = 100

/** The paths of the files of its own origin that the page names, each once, in alphabetical order. */
export function filesNamedIn(page: Uint8Array): string[] {
  const names = new TextDecoder().decode(page).matchAll(/(?:src|href)="(\/space\/[A-Za-z0-9_./-]{1,200})"/g)
  return [...new Set([...names].map(([, path = '']) => path))].toSorted().slice(0, maxFiles)
}

/** The entry of the transparency log. Whoever was served the same bytes computes the same entry. */
export function appPageEntry({ page, files, code }: ServedApp) {
  return {
    type: 'app_page' as const,
    page: sha256(page),
    files: [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([path, bytes]) => ({ path, sha256: sha256(bytes) })),
    code,
  }
}

const sha256 = (bytes: Uint8Array) => toHex(hash(bytes))
