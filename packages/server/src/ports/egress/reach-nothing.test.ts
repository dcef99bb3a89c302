import { connect } from 'node:net'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { openTestEgress } from '#testing/open-test-egress.ts'
import { answering, startRawServer, type RawServer } from '#testing/raw-server.ts'
import { EgressError } from './egress-error.ts'
import { openGuardedAgent } from './guarded-agent.ts'

const words = (text: string) => text.trim().split(/\s+/)

const spellings = words(`
  127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 2130706433. 2130706434 017700000001 0x7f000001 0X7F.0X0.0X0.0X1 0177.0.0.1 0x7f.1
  127.0x0.1 0177.0.0.0x1 00000177.1 0x7f.0.0.1. 0x7f.255 %31%32%37.0.0.1 127%2E0%2E0%2E1 127.0.0.2 127.255.255.254 0 00 0x0 0.0.0.0
  0.0.0.0. 4294967295 255.255.255.255`)

const otherAlphabets = [
  ...words('１２７.0.0.1 127。0。0。1 127．0．0．1 ①②⑦.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 １２７．０．０．１ 0𝓍7f.1 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ'),
  // A soft hyphen, which is dropped.
  'local\u00adhost',
]

/** Also mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP. */
const ipv6 = words(`
  [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1] [::] [::ffff:127.0.0.1] [::FFFF:7F00:1]
  [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0:127.0.0.1] [::127.0.0.1] [::7f00:1] [::ffff:0.0.0.0] [::ffff:10.0.0.1] [64:ff9b::127.0.0.1]
  [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [64:ff9b::a9fe:a9fe] [2002:7f00:1::] [2002:7f00:0001::1] [2002:a9fe:a9fe::1] [2001:0:7f00:1::]
  [2001::80ff:fffe] [2001:0:4136:e378:8000:63bf:80ff:fffe] [fe80::5efe:127.0.0.1] [fe80::1] [fe80::1%25lo] [::1%25lo] [fec0::1]
  [fc00::1] [fd00:ec2::254] [ff02::1] [100::1] [2001:db8::1] [3fff::1]`)

const inside = words(`
  10.0.0.1 10.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 100.64.0.1 169.254.169.254 2852039166 0xa9fea9fe
  0251.0376.0251.0376 169.254.43518 100.100.100.200 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.250 240.0.0.1`)

const names = words(`
  localhost LocalHost localhost. a.localhost localhost.localdomain box.local metadata.google.internal METADATA.GOOGLE.INTERNAL
  metadata.google.internal. metadata metadata.goog instance-data instance-data.ec2.internal redis postgres
  kubernetes.default.svc.cluster.local host.docker.internal gateway.docker.internal`)

/** With what stands before and after the host. */
const tricks = [
  ...words('example.com@127.0.0.1 user:pass@127.0.0.1 127.0.0.1#@example.com example.com%40127.0.0.1 127.0.0.1%00.example.com'),
  ...words('/127.0.0.1 127.0.0.1%23.example.com 127.0.0.1%2f.example.com'),
  'example.com\\@127.0.0.1',
  '127.0.0.1\t',
  '\\127.0.0.1',
]

const ownAddresses = Object.values(networkInterfaces()).flatMap((all = []) =>
  all.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
)

const hosts = [...spellings, ...otherAlphabets, ...ipv6, ...inside, ...names, ...tricks, ...ownAddresses]

let listener: RawServer
const resolve = async () => ['127.0.0.1']

before(async () => {
  // Without a host: every address of this machine, IPv4 and IPv6, so that whichever way in counts.
  listener = await startRawServer()
})
after(() => listener.close())

/** The address with the listener's port, however the form ends. */
function urlsOf(host: string): string[] {
  const [, name = '', rest = ''] = /^([^#]*)(#.*)?$/s.exec(host)!
  return ['http', 'https'].map((scheme) => `${scheme}://${name}:${listener.port}${rest}/`)
}

test('the listener counts whoever comes by IPv4 or IPv6, so that 0 means 0', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const before = listener.accepted()
    const socket = connect(listener.port, host)
    await once(socket, 'connect')
    socket.destroy()
    while (listener.accepted() === before) await new Promise(setImmediate)
  }
  const reached = listener.accepted()
  const egress = openTestEgress(t, { mode: 'loopback' })
  const request = egress.send({ method: 'GET', url: `http://127.0.0.1:${listener.port}/`, timeoutMs: 1_000 })
  await assert.rejects(request, { reason: 'timeout' })
  await listener.untilAccepted(reached + 1)
})

test('there are at least 80 forms', () => assert.ok(new Set(hosts).size >= 80, String(new Set(hosts).size)))

test('no form passes at registration', (t) => {
  const egress = openTestEgress(t, { mode: 'public', resolve })
  for (const url of hosts.flatMap(urlsOf)) assert.equal(egress.checkUrl(url).ok, false, url)
})

test('no form is reached by send or fetch, nor is its name even looked up', async (t) => {
  const lookedUp: string[] = []
  const reached = listener.accepted()
  const egress = openTestEgress(t, { mode: 'public', resolve: async (name) => (lookedUp.push(name), ['127.0.0.1']) })
  for (const url of hosts.flatMap(urlsOf)) {
    await assert.rejects(egress.send({ method: 'POST', url, body: 'x' }), isRefusal, url)
    await assert.rejects(egress.fetch(url), isRefusal, url)
  }
  assert.deepEqual(lookedUp, [])
  for (const url of hosts.flatMap(urlsOf).filter((text) => URL.canParse(text))) {
    await assert.rejects(egress.fetch(new URL(url)), isRefusal, url)
    // A Request takes no credentials in its URL.
    if (!new URL(url).username) await assert.rejects(egress.fetch(new Request(url)), isRefusal, url)
  }
  assert.equal(listener.accepted() - reached, 0)
})

test('no form is reached by the agent alone, without any check of the URL before it', async (t) => {
  const reached = listener.accepted()
  const agent = openGuardedAgent({ mode: 'public', resolve, maxConnectionBytes: 1_000_000 })
  t.after(() => agent.destroy())
  for (const url of hosts.flatMap(urlsOf).filter((text) => URL.canParse(text))) {
    const { origin } = new URL(url)
    await assert.rejects(agent.request({ origin, path: '/', method: 'GET' }), { reason: 'refused_address' }, url)
  }
  assert.equal(listener.accepted() - reached, 0)
})

test('a name that passes by its text is refused when any of its addresses is not public', async (t) => {
  const answers = [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['fe80::1%lo'],
    ['0.0.0.0'],
    ['127.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['127.0.0.1', '93.184.216.34'],
    ['2606:4700::1111', '::1'],
    [...Array.from({ length: 20 }, (_, i) => `93.184.216.${i}`), '127.0.0.1'],
  ]
  const reached = listener.accepted()
  for (const addresses of answers) {
    const egress = openTestEgress(t, { mode: 'public', resolve: async () => addresses })
    const url = `https://rebind.example.org:${listener.port}/`
    assert.equal(egress.checkUrl(url).ok, true)
    await assert.rejects(egress.send({ method: 'GET', url }), { reason: 'refused_address' }, addresses.join(' '))
    await assert.rejects(egress.fetch(url), { reason: 'refused_address' }, addresses.join(' '))
  }
  assert.equal(listener.accepted() - reached, 0)
})

test('loopback mode reaches loopback and nothing else that is not public', async (t) => {
  const server = await startRawServer(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
  t.after(() => server.close())
  const egress = openTestEgress(t, { mode: 'loopback', resolve: async () => ['10.0.0.1'] })
  for (const host of ['127.0.0.1', '[::1]', 'localhost', 'a.localhost', '127.1'])
    assert.equal((await egress.send({ method: 'GET', url: `http://${host}:${server.port}/` })).status, 200, host)
  const others = [
    '10.0.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[fd00::1]',
    'a.example.org',
  ]
  for (const url of others.flatMap(urlsOf))
    await assert.rejects(egress.send({ method: 'GET', url }), { reason: 'refused_address' }, url)
  const agent = openGuardedAgent({ mode: 'loopback', resolve, maxConnectionBytes: 1_000_000 })
  t.after(() => agent.destroy())
  await assert.rejects(agent.request({ origin: 'http://8.8.8.8', path: '/', method: 'GET' }), { reason: 'refused_address' })
})

function isRefusal(error: unknown): boolean {
  return (
    error instanceof EgressError && ['refused_url', 'refused_address'].includes(error.reason) && !/\d+\.\d+/.test(error.message)
  )
}
