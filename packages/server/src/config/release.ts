import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

export interface Release {
  version: string
  /** The commit that the release archive was made from; undefined if the process does not run from one. */
  commit: string | undefined
}

let release: Promise<Release> | undefined

/** The release that runs here. Read once. */
export function readRelease(): Promise<Release> {
  return (release ??= read())
}

async function read(): Promise<Release> {
  const [manifest, commit] = await Promise.all([
    readFile(`${root}package.json`, 'utf8'),
    // scripts/release writes it.
    readFile(`${root}COMMIT`, 'utf8').catch(() => undefined),
  ])
  const { version } = JSON.parse(manifest) as { version: string }
  return { version, commit: commit?.trim() }
}
