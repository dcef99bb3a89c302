import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { fresh } from '../testing/agent-world.ts'
import { startTestSpace, type TestSpace } from '../testing/test-space.ts'
import { callerKey } from './caller-key.ts'

const keyOf = callerKey(['loopback', '192.0.2.1'])
const counted = (remoteAddress: string, headers: IncomingHttpHeaders = {}) =>
  keyOf({ socket: { remoteAddress }, headers } as IncomingMessage)
const named = (key: string, forwardedFor?: string): IncomingHttpHeaders => ({
  'x-atrium-rate-key': key,
  ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
})

test('a caller counts by the address of its socket, or by the last untrusted one that trusted proxies name', () => {
  assert.equal(counted('198.51.100.7', { 'x-forwarded-for': '203.0.113.9' }), '198.51.100.7')
  assert.equal(counted('127.0.0.1'), '127.0.0.1')
  assert.equal(counted('127.0.0.1', { 'x-forwarded-for': '203.0.113.9, 198.51.100.7, 192.0.2.1' }), '198.51.100.7')
  assert.equal(counted('127.0.0.1', { 'x-forwarded-for': 'unknown' }), '127.0.0.1')
})

test('a trusted caller that speaks for nobody else counts by the key that it names', () => {
  assert.equal(counted('127.0.0.1', named('session:ses_1')), 'session:ses_1')
  assert.equal(counted('::ffff:192.0.2.1', named('session:ses_1')), 'session:ses_1')
  assert.equal(counted('127.0.0.1', named('session:ses_1', '192.0.2.1')), 'session:ses_1', 'through a trusted proxy')
})

test('a key is ignored from an untrusted caller, also where a trusted proxy passes it on', () => {
  assert.equal(counted('198.51.100.7', named('session:ses_1')), '198.51.100.7')
  assert.equal(counted('127.0.0.1', named('session:ses_1', '198.51.100.7')), '198.51.100.7')
  assert.equal(counted('127.0.0.1', named('session:ses_1', '198.51.100.7, 192.0.2.1')), '198.51.100.7')
  assert.equal(counted('127.0.0.1', named('session:ses_1', 'unknown')), '127.0.0.1')
})

test('a key that is too long or has other characters is ignored', () => {
  const longest = `session:${'x'.repeat(128)}`
  assert.equal(counted('127.0.0.1', named(longest)), longest)
  const refused = [
    `${longest}x`,
    'session:',
    ':x',
    'x',
    'Session:x',
    'a b:x',
    'session:x y',
    'session:x/64',
    'a:x, a:y',
    '192.0.2.9',
  ]
  for (const key of refused) assert.equal(counted('127.0.0.1', named(key)), '127.0.0.1', key)
})

const limited = { ATRIUM_RATE_LIMIT: '1', ATRIUM_SPACE_ROOMS_PER_HOUR: '3' }

async function made(space: TestSpace, headers: Record<string, string>): Promise<number> {
  const create = () =>
    fetch(`${space.origin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ op: 'create', ...fresh(), policy: 'open' }),
    })
  const answers = await Promise.all(Array.from({ length: 5 }, create))
  return answers.filter(({ status }) => status === 200).length
}

test('limits count each key of a trusted caller by itself, and an untrusted one by its address', async () => {
  for (const [trusted, expected] of [
    ['loopback', [3, 3, 0]],
    ['192.0.2.1', [3, 0, 0]],
  ] as const) {
    const space = await startTestSpace({ ...limited, ATRIUM_TRUST_PROXY: trusted })
    try {
      const byKey = async (key: string) => made(space, { 'x-atrium-rate-key': key })
      assert.deepEqual([await byKey('session:a'), await byKey('session:b'), await byKey('session:a')], expected, trusted)
    } finally {
      await space.close()
    }
  }
})

test('each of several processes allows its part of the requests of an address', async () => {
  const passed = async (processes: string) => {
    const space = await startTestSpace({ ATRIUM_RATE_LIMIT: '0.5', ATRIUM_SPACE_PROCESSES: processes })
    try {
      const calls = Array.from({ length: 150 }, () => space.call('poll', fresh()))
      return (await Promise.all(calls)).filter(({ status }) => status !== 429).length
    } finally {
      await space.close()
    }
  }
  const [alone, oneOfFour] = [await passed('1'), await passed('4')]
  assert.ok(oneOfFour >= 1 && oneOfFour <= alone / 3, `${oneOfFour} of ${alone}`)
})
