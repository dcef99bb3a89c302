import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { calculateJwkThumbprint, importJWK } from 'jose'
import { skipWithout } from '../../../../tests/support/skip-without.ts'
import { makeCertificate } from './certificate.ts'

const build = { gitCommit: 'a'.repeat(40), functionCode: Buffer.from('code'), sourceArchive: Buffer.from('source') }
const { privateKey: signingKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const egress = ['postgres', 'https://issuer.example']
const certificate = makeCertificate({ build, signingKey, service: 'atrium-space', egress })
const { cert } = certificate

test('the certificate says what runs, from what, and where it may connect', () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('base64')
  assert.deepEqual(JSON.parse(cert.signed), {
    v: 1,
    service: 'atrium-space',
    gitCommit: build.gitCommit,
    functionCodeSha256: hash('code'),
    egress,
    sourceSha256: hash('source'),
  })
  assert.equal(cert.alg, 'ES256')
  assert.deepEqual(Object.keys(cert.pubkey).sort(), ['crv', 'kty', 'x', 'y'])
})

/** By Web Crypto, with the key as jose imports it. */
async function isSigned(text: string, sig: string): Promise<boolean> {
  const key = await importJWK({ ...cert.pubkey, alg: 'ES256' })
  assert.ok('type' in key && key.type === 'public')
  const bytes = Buffer.from(sig, 'base64url')
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes, Buffer.from(text))
}

test('jose and Web Crypto verify the certificate and the answer to a nonce', async () => {
  assert.ok(await isSigned(cert.signed, cert.sig))
  const { signed = '', sig = '' } = certificate.attest('n-1')
  assert.ok(await isSigned(signed, sig))
  assert.equal(certificate.keyThumbprint, await calculateJwkThumbprint(cert.pubkey))
})

test('a flipped bit anywhere in text or signature is refused', async () => {
  for (const [text, sig] of [
    ...flips(Buffer.from(cert.signed)).map((bytes) => [bytes.toString('latin1'), cert.sig] as const),
    ...flips(Buffer.from(cert.sig, 'base64url')).map((bytes) => [cert.signed, bytes.toString('base64url')] as const),
  ]) {
    assert.equal(await isSigned(text, sig), false)
  }
})

test('attest tells the same commit, and with a nonce what is signed can be no certificate', () => {
  const plain = certificate.attest()
  assert.deepEqual(Object.keys(plain), ['service', 'gitCommit', 'runtime'])
  assert.equal(plain.gitCommit, build.gitCommit)
  const hostile = '","egress":[],"sourceSha256":"'
  const { signed = '', ...rest } = certificate.attest(hostile)
  const said = JSON.parse(signed) as Record<string, unknown>
  assert.deepEqual(Object.keys(said), ['v', 'service', 'gitCommit', 'functionCodeSha256', 'runtime', 'nonce', 'at'])
  assert.equal(said['nonce'], hostile)
  assert.equal(said['runtime'], rest.runtime)
})

test('a key of another curve signs no certificate', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  assert.throws(() => makeCertificate({ build, signingKey: privateKey, service: 's', egress }), TypeError)
})

const skip = skipWithout('openssl')

test('openssl dgst verifies the certificate, and refuses it altered', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-certificate-'))
  after(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' }).toString()
  // SubjectPublicKeyInfo of a P-256 key is this prefix and the point.
  const prefix = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex')
  const { x, y } = cert.pubkey
  const point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  writeFileSync(at('key.der'), Buffer.concat([prefix, point]))
  const sig = Buffer.from(cert.sig, 'base64url').toString('hex')
  const conf = `asn1=SEQUENCE:rs\n[rs]\nr=INTEGER:0x${sig.slice(0, 64)}\ns=INTEGER:0x${sig.slice(64)}\n`
  writeFileSync(at('sig.conf'), conf)
  openssl('asn1parse', '-genconf', at('sig.conf'), '-noout', '-out', at('sig.der'))
  const verify = (text: string) => {
    writeFileSync(at('signed'), text)
    return openssl('dgst', '-sha256', '-verify', at('key.der'), '-keyform', 'DER', '-signature', at('sig.der'), at('signed'))
  }
  assert.match(verify(cert.signed), /Verified OK/)
  assert.throws(() => verify(`${cert.signed} `))
})

function flips(bytes: Buffer): Buffer[] {
  return [...bytes.keys()].map((at) => {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 1 << (at % 7)
    return flipped
  })
}
