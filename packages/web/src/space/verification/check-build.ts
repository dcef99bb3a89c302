import { randomId } from '@atrium/room-client/new-room-secret'
import { callSpace } from '../api/space-client.ts'
import { type Certificate, fetchCertificate, fetchFresh, isSignatureOf } from './certificate.ts'
import type { Check, Report } from './check.ts'
import { checkLog } from './check-log.ts'
import { encodeBase64, sha256 } from './encoding.ts'
import { pinKey, type Pin } from './pin.ts'
import { date } from '../text/format.ts'
import { t } from '../text/text.ts'

/** The longest time for the archive of the source, which has megabytes. */
const sourceMs = 60_000

/**
 * Checks that what the service publishes about itself is consistent, and signed with the key of the last visit.
 * `apiUrl`: where the public log is; undefined while the configuration is being loaded.
 */
export async function checkBuild(report: Report, apiUrl: string | undefined, onPin: (pin: Pin) => void): Promise<void> {
  const certificate = await fetchCertificate()
  const { facts } = certificate
  report({
    id: 'certificate',
    verdict: certificate.isSigned ? 'proved' : 'failed',
    title: certificate.isSigned ? t.protection.certificate.proved : t.protection.certificate.failed,
    text: t.protection.certificate.text(facts.service, facts.gitCommit.slice(0, 12), facts.functionCodeSha256.slice(0, 12)),
  })
  const pin = pinKey(certificate.thumbprint)
  onPin(pin)
  report(pinCheck(pin))
  const log = apiUrl === undefined ? undefined : checkLog(apiUrl, report)
  await Promise.all([checkSource(certificate).then(report), checkAnswer(certificate).then(report), log])
}

function pinCheck({ kind, thumbprint, since }: Pin): Check {
  const day = date('dayWithYear', new Date(since))
  const texts = t.protection.pin
  const short = `${thumbprint.slice(0, 12)}…`
  if (kind === 'first') {
    return { id: 'pin', verdict: 'trusted', title: texts.first, text: texts.firstText(short) }
  }
  return kind === 'same'
    ? { id: 'pin', verdict: 'proved', title: texts.same, text: texts.sameText(short, day) }
    : { id: 'pin', verdict: 'failed', title: texts.changed, text: texts.changedText(short, day) }
}

async function checkSource({ facts }: Certificate): Promise<Check> {
  const id = 'source'
  try {
    const archive = await fetchFresh('/source.tar.gz', AbortSignal.timeout(sourceMs)).then((res) => res.arrayBuffer())
    const isNamed = encodeBase64(await sha256(archive)) === encodeBase64Of(facts.sourceSha256)
    return {
      id,
      verdict: isNamed ? 'proved' : 'failed',
      title: isNamed ? t.protection.source.proved : t.protection.source.failed,
      text: t.protection.source.text(Math.ceil(archive.byteLength / 1024)),
    }
  } catch {
    return { id, verdict: 'unknown', title: t.protection.source.unreachable, text: t.protection.source.unreachableText }
  }
}

function encodeBase64Of(text: string): string {
  const plain = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/(?<!=)=+$/, '')
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=')
}

async function checkAnswer({ facts, publicKey }: Certificate): Promise<Check> {
  const id = 'attest'
  const nonce = randomId()
  const texts = t.protection.attest
  const answer = await callSpace({ op: 'attest', nonce }).catch(() => undefined)
  if (!answer) return { id, verdict: 'unknown', title: texts.unreachable, text: texts.unreachableText }
  const { gitCommit, service, signed, sig } = answer
  const said = signed === undefined || sig === undefined ? {} : (JSON.parse(signed) as Record<string, unknown>)
  const isSigned = signed !== undefined && sig !== undefined && (await isSignatureOf(publicKey, signed, sig))
  const isFresh = said['nonce'] === nonce
  const isSameBuild = said['gitCommit'] === facts.gitCommit && gitCommit === facts.gitCommit && service === facts.service
  if (isSigned && isFresh && isSameBuild) {
    return { id, verdict: 'proved', title: texts.proved, text: texts.provedText }
  }
  const why = !isSigned ? texts.unsigned : !isFresh ? texts.stale : texts.otherBuild
  return { id, verdict: 'failed', title: texts.failed, text: why }
}
