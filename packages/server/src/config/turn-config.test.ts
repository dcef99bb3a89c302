import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { readEnv } from './env.ts'
import { readTurnSecret, readTurnUrls } from './turn-config.ts'

const secret = 'hush-hush-hush-16'
const urlsOf = (TURN_URLS: string) => readTurnUrls(readEnv({ TURN_URLS, TURN_SECRET: secret }))

test('without a relay there are neither addresses nor a secret', () => {
  for (const env of [{}, { TURN_URLS: ' ', TURN_SECRET: '' }]) {
    assert.equal(readTurnUrls(readEnv(env)), undefined)
    assert.equal(readTurnSecret(readEnv(env)), undefined)
  }
})

test('each form of RFC 7065 and 7064 is accepted unchanged and in order', () => {
  const good = [
    'stun:turn.example.com',
    'turn:turn.example.com:3478?transport=udp',
    'turn:turn.example.com?transport=tcp',
    'turns:turn.example.com:443?transport=tcp',
    'turn:192.0.2.1:65535',
    'turns:[2001:db8::1]',
    'stun:[2001:db8::1]:1',
    'turn:relay',
    `turn:${'a'.repeat(63)}.example`,
  ]
  assert.deepEqual(urlsOf(good.join(' , ')), good)
  assert.equal(readTurnSecret(readEnv({ TURN_URLS: good[1], TURN_SECRET: secret })), secret)
})

for (const [url, fault] of [
  ['', 'scheme'],
  ['turn.example.com', 'scheme'],
  ['https://turn.example.com', 'scheme'],
  ['stuns:turn.example.com', 'scheme'],
  ['turn:', 'host'],
  ['turn:hush-hush@turn.example.com', 'host'],
  ['turn://turn.example.com', 'host'],
  ['turn:turn.example.com/relay', 'host'],
  ['turn:turn_1.example.com', 'host'],
  ['turn:-turn.example.com', 'host'],
  ['turn:turn..example.com', 'host'],
  ['turn:192.0.2.256', 'host'],
  ['turn:192.0.2', 'host'],
  ['turn:2001:db8::1', 'host'],
  ['turn:[2001:db8::1', 'host'],
  ['turn:[turn.example.com]', 'host'],
  ['turn:[fe80::1%eth0]', 'host'],
  [`turn:${'a'.repeat(64)}.example`, 'host'],
  [`turn:${'a.'.repeat(127)}aa`, 'host'],
  ['turn:turn.example.com:', 'port'],
  ['turn:turn.example.com:0', 'port'],
  ['turn:turn.example.com:65536', 'port'],
  ['turn:turn.example.com:http', 'port'],
  ['turn:turn.example.com?transport=sctp', 'transport'],
  ['turn:turn.example.com?transport=UDP', 'transport'],
  ['turn:turn.example.com?transport=udp&x=1', 'transport'],
  ['turn:turn.example.com?', 'transport'],
  ['stun:turn.example.com?transport=udp', 'takes nothing after the port'],
] as const) {
  test(`a wrong address stops the start with one line that says which and why: ${url || 'nothing'}`, () => {
    const why = {
      scheme: 'does not start with',
      host: 'names no host',
      port: 'has an invalid port',
      transport: 'has a transport',
    }
    assert.throws(
      () => urlsOf(`turn:turn.example.com,${url}`),
      (error: Error) =>
        error instanceof StartError &&
        /^TURN_URLS [^\n]* number 2 /.test(error.message) &&
        error.message.includes(fault in why ? why[fault as keyof typeof why] : fault) &&
        !error.message.includes('hush'),
    )
  })
}

test('STUN servers alone are no relay', () => {
  assert.throws(() => urlsOf('stun:turn.example.com'), { message: 'TURN_URLS must list at least one turn: or turns: address' })
})

test('one of the two without the other stops the start and names the missing one', () => {
  const both = (env: NodeJS.ProcessEnv) => [readTurnUrls(readEnv(env)), readTurnSecret(readEnv(env))]
  assert.throws(() => both({ TURN_SECRET: secret }), { message: 'TURN_URLS must be set when TURN_SECRET is' })
  assert.throws(() => both({ TURN_URLS: 'turn:turn.example.com' }), { message: 'TURN_SECRET must be set when TURN_URLS is' })
})

test('a short secret is rejected and not quoted', () => {
  const read = (TURN_SECRET: string) => readTurnSecret(readEnv({ TURN_URLS: 'turn:turn.example.com', TURN_SECRET }))
  assert.equal(read('x'.repeat(16)), 'x'.repeat(16))
  assert.throws(() => read('x'.repeat(15)), { message: 'TURN_SECRET must have at least 16 characters' })
})
