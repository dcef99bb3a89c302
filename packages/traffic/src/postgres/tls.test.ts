import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { expiredCertificate, validCertificate } from '../../../server/testing/loopback-certificates.ts'
import { isConnectionLost } from '../database-errors.ts'
import { open, urlOfProxy } from './testing/fake-server.ts'
import { startTls } from './testing/start-tls.ts'

let folder: string
/** The parameter with the certificate, which is its own authority. */
let ca: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-tls-'))
  await writeFile(join(folder, 'ca.pem'), validCertificate)
  ca = `sslrootcert=${encodeURIComponent(join(folder, 'ca.pem'))}`
})

after(() => rm(folder, { recursive: true }))

const unknownAuthority = /self.signed|DEPTH_ZERO/i
const otherName = { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }

test('each sslmode verifies what it promises', async () => {
  const [valid, expired] = [await startTls({ cert: validCertificate }), await startTls({ cert: expiredCertificate })]
  // The certificate has the names localhost, 127.0.0.1 and ::1; the server listens on all of 127.0.0.0/8.
  const other = valid.replace('127.0.0.1', '127.0.0.2')
  const accepted: [string, string][] = [
    [valid, `sslmode=verify-full&${ca}`],
    [valid.replace('127.0.0.1', 'localhost'), `sslmode=require&${ca}`],
    [valid, `ssl=true&${ca}`],
    [expired, 'sslmode=no-verify'],
    [expired, 'ssl=no-verify'],
    [other, `sslmode=no-verify&${ca}`],
    [expired, 'sslmode=prefer&uselibpqcompat=true'],
    [expired, 'sslmode=require&uselibpqcompat=true'],
    [other, `sslmode=require&${ca}&uselibpqcompat=true`],
    [other, `sslmode=verify-ca&${ca}&uselibpqcompat=true`],
    [valid, `sslmode=verify-full&${ca}&uselibpqcompat=true`],
  ]
  for (const [url, parameters] of accepted) {
    const connection = await open({ url: urlOfProxy(url, parameters) })
    assert.equal((await connection.query('select 1 as n')).rows[0]!.n, '1', parameters)
  }
  const refused: [string, string, RegExp | { code: string }][] = [
    [valid, 'sslmode=verify-full', unknownAuthority],
    [valid, 'sslmode=verify-full&sslrootcert=system', unknownAuthority],
    [valid, 'sslmode=require', unknownAuthority],
    [valid, 'sslmode=prefer', unknownAuthority],
    [valid, 'ssl=1', unknownAuthority],
    [expired, `sslmode=verify-full&${ca}`, /expired|self.signed|signature/i],
    [expired, `sslmode=verify-ca&${ca}&uselibpqcompat=true`, /expired|self.signed|signature/i],
    [other, `sslmode=verify-full&${ca}`, otherName],
    // As pg has it: only uselibpqcompat makes verify-ca accept another name.
    [other, `sslmode=verify-ca&${ca}`, otherName],
    [other, `sslmode=require&${ca}`, otherName],
    [other, `sslmode=verify-full&${ca}&uselibpqcompat=true`, otherName],
    [valid, 'sslmode=verify-ca&uselibpqcompat=true', /needs sslrootcert/],
    [valid, 'sslmode=verify-full&sslrootcert=/nowhere/ca.pem', /sslrootcert.*cannot be read/],
  ]
  for (const [url, parameters, reason] of refused) {
    await assert.rejects(open({ url: urlOfProxy(url, parameters) }), reason, parameters)
    await assert.rejects(open({ url: urlOfProxy(url, parameters) }), (error) => !isConnectionLost(error), parameters)
  }
})

test('a server without TLS is refused, and what comes before the handshake too', async () => {
  for (const answer of ['N', 'SE', 'E']) {
    const url = urlOfProxy(await startTls({ cert: validCertificate }, { answer }), 'sslmode=no-verify')
    await assert.rejects(open({ url }), /does not support TLS/)
  }
  const url = urlOfProxy(await startTls({ cert: validCertificate }, { answer: 'N' }), 'sslmode=prefer')
  await assert.rejects(open({ url }), /does not support TLS/)
})

test('a Unix socket needs no TLS', async () => {
  const connection = await open({ url: urlOfProxy(`${process.env['ATRIUM_TEST_DATABASE_URL']}&sslmode=verify-full`) })
  assert.equal((await connection.query('select 1 as n')).rows[0]!.n, '1')
})

test('sslnegotiation=direct begins with TLS, and the server must have chosen the protocol of PostgreSQL', async () => {
  const url = await startTls({ cert: validCertificate }, { isDirect: true })
  const connection = await open({ url: urlOfProxy(url, `sslnegotiation=direct&${ca}`) })
  assert.equal((await connection.query('select 1 as n')).rows[0]!.n, '1')
  await assert.rejects(open({ url: urlOfProxy(url, 'sslnegotiation=direct') }), unknownAuthority)
  const silent = await startTls({ cert: validCertificate }, { isDirect: true, protocols: [] })
  await assert.rejects(open({ url: urlOfProxy(silent, `sslnegotiation=direct&${ca}`) }), /ALPN/)
})
