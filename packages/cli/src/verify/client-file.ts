import { readFile } from 'node:fs/promises'
import { isEs256Signature } from '@atrium/identity/signature'
import { readSigned, sha256, type VerifiedCertificate } from './certificate.ts'
import { type Downloads, SMALL } from './download.ts'
import { CheckFailed, type Report } from './report.ts'

const MEMBERS = ['v', 'service', 'gitCommit', 'path', 'sha256']

/** Checks that a file on this disk is the app in one file that the service publishes, signed by the certificate's key. */
export async function checkClientFile(
  report: Report,
  downloads: Downloads,
  certificate: VerifiedCertificate,
  file: string,
): Promise<void> {
  await report.check('the app in one file', async () => {
    const { signed, sig, alg } = await downloads.getJson('/client.json', SMALL)
    if (alg !== 'ES256' || typeof signed !== 'string' || typeof sig !== 'string')
      throw new CheckFailed('it is not signed with ES256')
    if (!isEs256Signature(certificate.key.publicKey, signed, sig))
      throw new CheckFailed("the signature of /client.json is not by the certificate's key")
    const said = readSigned(signed, MEMBERS)
    if (said['service'] !== certificate.service || said['gitCommit'] !== certificate.gitCommit)
      throw new CheckFailed('it names another service or commit than the certificate')
    const own = sha256(await readFile(file))
    if (said['sha256'] !== own)
      throw new CheckFailed(`the file has the SHA-256 ${own}, and the service signs ${String(said['sha256'])}: get it anew`)
    report.proved(`the file is the app in one file of this service, signed by the certificate's key (SHA-256 ${own})`)
  })
}
