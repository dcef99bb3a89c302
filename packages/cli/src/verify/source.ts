import { type ArchivedFile, readArchive } from './archive.ts'
import { sha256, type VerifiedCertificate } from './certificate.ts'
import { ARCHIVE, type Downloads } from './download.ts'
import { CheckFailed, type Report } from './report.ts'

export type Source = ReadonlyMap<string, ArchivedFile>

/** Returns the published source if it is the certified one. */
export async function checkSource(
  report: Report,
  downloads: Downloads,
  certificate: VerifiedCertificate,
): Promise<Source | undefined> {
  return report.check('the published source', async () => {
    const { bytes } = await downloads.get('/source.tar.gz', ARCHIVE)
    const found = sha256(bytes)
    if (found !== certificate.sourceSha256) throw new CheckFailed(`its SHA-256 is ${found}, but the certificate names another`)
    const files = readArchive(bytes)
    const commit = files.get('COMMIT')?.body.toString().trim()
    if (commit !== certificate.gitCommit) throw new CheckFailed('it names another commit than the certificate')
    report.proved(`the published source is the certified one: ${files.size} files, ${bytes.length} bytes, SHA-256 ${found}`)
    return files
  })
}
