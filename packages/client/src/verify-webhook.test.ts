import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { signWebhook, verifyWebhook, type WebhookDoubt, type WebhookHeaders, WebhookVerificationError } from './verify-webhook.ts'

const secret = `whsec_${randomBytes(24).toString('base64')}`
const otherSecret = `whsec_${randomBytes(24).toString('base64')}`
const payload = JSON.stringify({
  id: 'evt_4fRzK0vXcB1mQwErTy7uPa',
  type: 'collection.deleted',
  created_at: '2026-11-20T09:30:00.000Z',
  tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa',
  sequence: 42,
  data: { collection_id: 'col_ünïcode 日本 🎉' },
})
const id = 'evt_4fRzK0vXcB1mQwErTy7uPa'

/** A delivery as the platform sends it, signed by the official package. */
function send({ by = secret, at = new Date(), text = payload }: { by?: string; at?: Date; text?: string } = {}) {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, text),
  }
  return { text, headers }
}

async function doubt(verifying: Promise<unknown>): Promise<WebhookDoubt> {
  const error = await verifying.then(
    () => assert.fail('the webhook was accepted'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof WebhookVerificationError, String(error))
  return error.reason
}

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

describe('a webhook that the official package signed', () => {
  test('is accepted, and its event is typed', async () => {
    const { text, headers } = send()
    const event = await verifyWebhook(text, headers, secret)
    assert.equal(event.sequence, 42)
    assert.ok(event.type === 'collection.deleted')
    assert.equal(event.data.collection_id, 'col_ünïcode 日本 🎉')
  })

  test('is accepted with every form of headers: Headers, upper case, and the object of node:http', async () => {
    const { text, headers } = send()
    const capital = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    for (const form of [new Headers(headers), capital, { ...headers, 'set-cookie': ['a', 'b'], host: undefined }])
      assert.equal((await verifyWebhook(text, form, secret)).id, id)
  })

  test('is accepted during a rotation, with any of several secrets and any of several signatures', async () => {
    const { text, headers } = send()
    assert.equal((await verifyWebhook(text, headers, [otherSecret, secret])).id, id)
    const both = `${send({ by: otherSecret }).headers['webhook-signature']} v1a,c2lnbmVk ${headers['webhook-signature']} nonsense`
    assert.equal((await verifyWebhook(text, { ...headers, 'webhook-signature': both }, secret)).id, id)
    assert.equal((await verifyWebhook(text, headers, secret.slice('whsec_'.length))).id, id)
  })

  test('costs one MAC for each secret, however many signatures it shows', async (t) => {
    const { text, headers } = send()
    const made = (['sign', 'verify'] as const).map((name) => t.mock.method(crypto.subtle, name).mock)
    const wrong = send({ by: otherSecret, text: 'another' }).headers['webhook-signature']
    const many = `${`${wrong} v1, `.repeat(500)}${headers['webhook-signature']}`
    assert.equal((await verifyWebhook(text, { ...headers, 'webhook-signature': many }, [secret, otherSecret])).id, id)
    assert.equal(made[0]!.callCount() + made[1]!.callCount(), 2)
  })

  test('is rejected with another secret or without one', async () => {
    const { text, headers } = send()
    assert.equal(await doubt(verifyWebhook(text, headers, otherSecret)), 'bad_signature')
    assert.equal(await doubt(verifyWebhook(text, headers, [])), 'bad_signature')
  })

  test('is rejected when its timestamp differs by more than five minutes, or by more than the tolerance', async () => {
    const judge = ({ text, headers }: ReturnType<typeof send>, seconds?: number) => verifyWebhook(text, headers, secret, seconds)
    assert.equal(await doubt(judge(send({ at: secondsAgo(302) }))), 'too_old')
    assert.equal(await doubt(judge(send({ at: secondsAgo(-302) }))), 'too_new')
    for (const seconds of [298, -298]) await judge(send({ at: secondsAgo(seconds) }))
    assert.equal(await doubt(judge(send({ at: secondsAgo(12) }), 10)), 'too_old')
    await judge(send({ at: secondsAgo(3_000) }), 3_600)
  })

  test('is rejected without one of its headers or with a malformed timestamp', async () => {
    const { text, headers } = send()
    for (const name of Object.keys(headers))
      assert.equal(await doubt(verifyWebhook(text, { ...headers, [name]: undefined }, secret)), 'missing_header')
    for (const time of ['now', '-1', '1e9', `${headers['webhook-timestamp']}.5`, ' 1', '9'.repeat(20)])
      assert.equal(await doubt(verifyWebhook(text, { ...headers, 'webhook-timestamp': time }, secret)), 'bad_timestamp')
  })

  test('is rejected when any character of payload, id, timestamp or signature is altered', async () => {
    const { text, headers } = send()
    const { 'webhook-id': sentId, 'webhook-timestamp': time, 'webhook-signature': signature } = headers
    const flip = (value: string, at: number) => value.slice(0, at) + (value[at] === '1' ? '2' : '1') + value.slice(at + 1)
    const altered: [string, WebhookHeaders][] = [
      ...Array.from(text, (_, at): [string, WebhookHeaders] => [flip(text, at), headers]),
      ...Array.from(sentId, (_, at): [string, WebhookHeaders] => [text, { ...headers, 'webhook-id': flip(sentId, at) }]),
      [text, { ...headers, 'webhook-timestamp': String(Number(time) - 1) }],
      // Without the last characters, whose unused bits decode to the same bytes.
      ...Array.from(signature.slice(0, -2), (_, at): [string, WebhookHeaders] => [
        text,
        { ...headers, 'webhook-signature': flip(signature, at) },
      ]),
      ...['', 'v1,', 'v1', 'v1,!!!', signature.slice(3), signature.slice(0, -8), `v2,${signature.slice(3)}`].map(
        (sent): [string, WebhookHeaders] => [text, { ...headers, 'webhook-signature': sent || ' ' }],
      ),
    ]
    for (const [changed, sent] of altered) {
      assert.equal(await doubt(verifyWebhook(changed, sent, secret)), 'bad_signature')
      assert.throws(() => new Webhook(secret).verify(changed, sent as Record<string, string>), 'the official package agrees')
    }
  })

  test('is rejected when the payload is not JSON', async () => {
    const { text, headers } = send({ text: 'hello' })
    assert.equal(await doubt(verifyWebhook(text, headers, secret)), 'not_json')
  })
})

describe('a webhook that the client signed', () => {
  test('is accepted by the official packages', async () => {
    const headers = await signWebhook(payload, secret, { id })
    assert.deepEqual(new Webhook(secret).verify(payload, headers), JSON.parse(payload))
    assert.deepEqual(new SvixWebhook(secret).verify(payload, headers), JSON.parse(payload))
    assert.deepEqual(await verifyWebhook(payload, headers, secret), JSON.parse(payload))
    assert.throws(() => new Webhook(otherSecret).verify(payload, headers))
  })

  test('equals the signature of the official package', async () => {
    const at = new Date(1_700_000_000_789)
    const headers = await signWebhook(payload, secret, { id, at })
    assert.deepEqual(headers, send({ at }).headers)
  })
})

test('a malformed secret is a TypeError whose message does not contain it', async () => {
  const { text, headers } = send()
  for (const bad of ['', 'whsec_', 'whsec_not base64!', 'sct_…']) {
    const says = (error: Error) => error instanceof TypeError && error.message === 'The secret must be whsec_ and base64'
    await assert.rejects(verifyWebhook(text, headers, bad), says)
    await assert.rejects(signWebhook(text, bad, { id }), says)
  }
})
