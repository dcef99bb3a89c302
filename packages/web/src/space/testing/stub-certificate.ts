import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** A certificate over a source archive, and answers signed with its key. */
export function stubCertificate() {
  let { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const source = gzipSync('the published source')
  const service = 'atrium-space'
  const gitCommit = '4fc3a1c0ffee4fc3a1c0ffee4fc3a1c0ffee4fc3'
  const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('base64')
  const signText = (text: string) =>
    sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  const certify = () => {
    const facts = { v: 1, service, gitCommit, functionCodeSha256: sha256('code'), egress: [], sourceSha256: sha256(source) }
    const signed = JSON.stringify(facts)
    const { kty, crv, x, y } = publicKey.export({ format: 'jwk' })
    return { signed, sig: signText(signed), alg: 'ES256', pubkey: { kty, crv, x, y } }
  }
  let certified = certify()
  return {
    source,
    /** The same bytes each time, as the log has them. */
    certificate: () => certified,
    attest(nonce: string | undefined) {
      const facts = { service, gitCommit, runtime: `node ${process.version}` }
      if (nonce === undefined) return facts
      const signed = JSON.stringify({ ...facts, nonce })
      return { ...facts, signed, sig: signText(signed) }
    },
    /** As if someone else now ran the service. */
    changeKey() {
      ;({ privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }))
      certified = certify()
    },
  }
}
