import { randomId } from '@atrium/room-client/new-room-secret'
import { callSpace } from '../api/space-client.ts'
import { type Certificate, fetchCertificate, fetchFresh, isSignatureOf } from './certificate.ts'
import type { Check, Report } from './check.ts'
import { encodeBase64, sha256 } from './encoding.ts'
import { pinKey, type Pin } from './pin.ts'

/** Whether what the service publishes about itself fits together, and is signed by the key it had last time. */
export async function checkBuild(report: Report, onPin: (pin: Pin) => void): Promise<void> {
  const certificate = await fetchCertificate()
  const { facts } = certificate
  report({
    id: 'certificate',
    verdict: certificate.isSigned ? 'proved' : 'failed',
    title: certificate.isSigned ? 'The build’s certificate is signed' : 'The build’s certificate is not genuine',
    text: `${facts.service}, commit ${facts.gitCommit.slice(0, 12)}, code ${facts.functionCodeSha256.slice(0, 12)}…`,
  })
  const pin = pinKey(certificate.thumbprint)
  onPin(pin)
  report(pinCheck(pin))
  await Promise.all([checkSource(certificate).then(report), checkAnswer(certificate).then(report)])
}

function pinCheck({ kind, thumbprint, since }: Pin): Check {
  const day = new Date(since).toLocaleDateString(undefined, { dateStyle: 'long' })
  const short = `${thumbprint.slice(0, 12)}…`
  if (kind === 'first') {
    return {
      id: 'pin',
      verdict: 'trusted',
      title: 'This is the first time that this browser sees the key',
      text: `${short} is remembered from now on: a change would be noticed. Compare it with what the operator says elsewhere.`,
    }
  }
  return kind === 'same'
    ? {
        id: 'pin',
        verdict: 'proved',
        title: 'It is the same key as before',
        text: `${short}, known to this browser since ${day}.`,
      }
    : {
        id: 'pin',
        verdict: 'failed',
        title: 'The service’s key has changed',
        text: `Since ${day} it was another one; now it is ${short}. Unless the operator announced it, do not write here.`,
      }
}

async function checkSource({ facts }: Certificate): Promise<Check> {
  const id = 'source'
  try {
    const archive = await fetchFresh('/source.tar.gz').then((res) => res.arrayBuffer())
    const isNamed = encodeBase64(await sha256(archive)) === encodeBase64Of(facts.sourceSha256)
    return {
      id,
      verdict: isNamed ? 'proved' : 'failed',
      title: isNamed
        ? 'The published source is the one the certificate names'
        : 'The published source is not the one the certificate names',
      text: `${Math.ceil(archive.byteLength / 1024).toLocaleString()} KB that anyone can read and build.`,
    }
  } catch {
    return { id, verdict: 'unknown', title: 'The source could not be fetched', text: 'Try again when you are online.' }
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
  const { gitCommit, service, signed, sig } = await callSpace({ op: 'attest', nonce })
  const said = signed === undefined || sig === undefined ? {} : (JSON.parse(signed) as Record<string, unknown>)
  const isSigned = signed !== undefined && sig !== undefined && (await isSignatureOf(publicKey, signed, sig))
  const isFresh = said['nonce'] === nonce
  const isSameBuild = said['gitCommit'] === facts.gitCommit && gitCommit === facts.gitCommit && service === facts.service
  if (isSigned && isFresh && isSameBuild) {
    return {
      id,
      verdict: 'proved',
      title: 'The running service holds that key, and names the same build',
      text: 'It signed a random number that this browser made up just now.',
    }
  }
  const why = !isSigned
    ? 'Its answer is not signed by the certificate’s key.'
    : !isFresh
      ? 'Its answer is an old one.'
      : 'It names another build.'
  return { id, verdict: 'failed', title: 'The running service is not the certified one', text: why }
}
