import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { certificateKey, expiredCertificate, validCertificate } from '#testing/loopback-certificates.ts'
import { openTestEgress } from '#testing/open-test-egress.ts'

async function openTlsServer(t: TestContext, cert: string) {
  const served: string[] = []
  const server = createServer({ key: certificateKey, cert }, (req, res) => {
    served.push(`${req.httpVersion} ${req.headers.host} ${'servername' in req.socket ? String(req.socket.servername) : ''}`)
    res.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  t.after(() => (server.closeAllConnections(), server.close()))
  return { port: (server.address() as AddressInfo).port, served }
}

function trust(t: TestContext, ...certificates: string[]): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, ...certificates])
  t.after(() => setDefaultCACertificates(before))
}

const resolve = async () => ['127.0.0.1']

test('a certificate signed by itself is refused by send and by fetch, also when the environment says not to check', async (t) => {
  const { port, served } = await openTlsServer(t, validCertificate)
  const egress = openTestEgress(t, { mode: 'loopback', resolve })
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const refusal = {
    name: 'EgressError',
    reason: 'tls',
    message: 'The TLS connection could not be made (DEPTH_ZERO_SELF_SIGNED_CERT).',
  }
  for (const host of ['127.0.0.1', 'localhost', 'tls.example.org']) {
    await assert.rejects(egress.send({ method: 'POST', url: `https://${host}:${port}/`, body: 'secret' }), refusal)
    await assert.rejects(egress.fetch(`https://${host}:${port}/`), refusal)
  }
  assert.deepEqual(served, [])
})

test('a trusted certificate passes for its names and addresses, by HTTP/1.1, with the name of the URL in SNI', async (t) => {
  const { port, served } = await openTlsServer(t, validCertificate)
  trust(t, validCertificate)
  const egress = openTestEgress(t, { mode: 'loopback', resolve })
  for (const host of ['tls.example.org', 'localhost', '127.0.0.1']) {
    const headers = { host: 'other.example.org' }
    assert.equal((await egress.send({ method: 'GET', url: `https://${host}:${port}/`, headers })).body.toString(), 'ok', host)
    assert.equal(await (await egress.fetch(`https://${host}:${port}/`, { headers })).text(), 'ok', host)
  }
  const [name, loopback, address] = [served[0], served[2], served[4]]
  assert.deepEqual(
    [name, loopback, address],
    [`1.1 tls.example.org:${port} tls.example.org`, `1.1 localhost:${port} localhost`, `1.1 127.0.0.1:${port} false`],
  )
})

test('a trusted certificate for another name, or one that has expired, is refused', async (t) => {
  trust(t, validCertificate, expiredCertificate)
  const egress = openTestEgress(t, { mode: 'loopback', resolve })
  const valid = await openTlsServer(t, validCertificate)
  await assert.rejects(
    egress.send({ method: 'GET', url: `https://other.example.org:${valid.port}/` }),
    /ERR_TLS_CERT_ALTNAME_INVALID/,
  )
  await assert.rejects(egress.send({ method: 'GET', url: `https://127.0.0.2:${valid.port}/` }), /ERR_TLS_CERT_ALTNAME_INVALID/)
  const expired = await openTlsServer(t, expiredCertificate)
  await assert.rejects(egress.send({ method: 'GET', url: `https://localhost:${expired.port}/` }), /CERT_HAS_EXPIRED/)
  assert.deepEqual([...valid.served, ...expired.served], [])
})

test('a server that speaks no TLS is a tls error', async (t) => {
  const { createServer: createPlain } = await import('node:http')
  const plain = createPlain((_req, res) => res.end('plain'))
  await new Promise<void>((done) => plain.listen(0, '127.0.0.1', done))
  t.after(() => (plain.closeAllConnections(), plain.close()))
  const egress = openTestEgress(t, { mode: 'loopback' })
  const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}/`
  await assert.rejects(egress.send({ method: 'GET', url }), { name: 'EgressError', reason: 'tls' })
})

test('without a port https goes to 443', async (t) => {
  const egress = openTestEgress(t, { mode: 'loopback' })
  await assert.rejects(egress.send({ method: 'GET', url: 'https://127.83.61.17/' }), (error: Error) => {
    assert.match((error.cause as Error).message, /127\.83\.61\.17:443$/)
    return true
  })
})
