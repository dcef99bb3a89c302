import { type ArchivedFile, readArchive } from './archive.ts'
import { sha256, type VerifiedCertificate } from './certificate.ts'
import { ARCHIVE, download } from './download.ts'
import { CheckFailed, type Report } from './report.ts'

export type Source = ReadonlyMap<string, ArchivedFile>

/** The published source, when it is the certified one. */
export async function checkSource(report: Report, origin: string, certificate: VerifiedCertificate): Promise<Source | undefined> {
  return report.check('the published source', async () => {
    const { bytes } = await download(`${origin}/source.tar.gz`, ARCHIVE)
    const found = sha256(bytes)
    if (found !== certificate.sourceSha256) throw new CheckFailed(`its SHA-256 is ${found}, and the certificate says another`)
    const files = readArchive(bytes)
    const commit = files.get('COMMIT')?.body.toString().trim()
    if (commit !== certificate.gitCommit) throw new CheckFailed('it names another commit than the certificate')
    report.proved(`the published source is the certified one: ${files.size} files, ${bytes.length} bytes, SHA-256 ${found}`)
    return files
  })
}

interface LockEntry {
  readonly link?: unknown
  readonly resolved?: unknown
  readonly integrity?: unknown
}

/** Other people's packages must come from the public registry, each by its hash: else the source is not all there is. */
export function checkLock(source: Source): number {
  const entries = Object.entries(readLock(source)).filter(([path]) => path.includes('node_modules/'))
  for (const [path, { link, resolved, integrity }] of entries) {
    if (link) {
      if (!source.has(`${resolved}/package.json`)) throw new CheckFailed(`the lock links ${path} to what is not in the source`)
      continue
    }
    const isPublic = resolved === undefined || String(resolved).startsWith('https://registry.npmjs.org/')
    if (!isPublic || !String(integrity).startsWith('sha512-'))
      throw new CheckFailed(`the lock does not hold ${path} to a public package`)
  }
  return entries.filter(([, { link }]) => !link).length
}

function readLock(source: Source): Record<string, LockEntry> {
  try {
    const lock = JSON.parse(source.get('package-lock.json')?.body.toString() ?? '') as { packages: Record<string, LockEntry> }
    if (Object.values(lock.packages).every((entry) => typeof entry === 'object' && entry !== null)) return lock.packages
  } catch {
    // said below
  }
  throw new CheckFailed('it has no readable package-lock.json')
}
