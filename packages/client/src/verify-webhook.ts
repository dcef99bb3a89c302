import type { AtriumEvent } from './atrium-event.ts'

/** A Headers object, or the plain object of node:http. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

/** Why a request was rejected. */
export type WebhookDoubt =
  | 'missing_header'
  | 'bad_timestamp'
  | 'too_old'
  | 'too_new'
  | 'bad_signature'
  | 'not_json'
  | 'unknown_type'

/** The request was not signed with the secret within the tolerance. Answer with 400 or 401 and do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookDoubt

  constructor(reason: WebhookDoubt) {
    super(`The webhook is not genuine: ${reason}`)
    this.reason = reason
  }
}

const defaultToleranceSeconds = 5 * 60
/** The length of an HMAC-SHA-256. */
const macBytes = 32

/**
 * Verifies a webhook request: Standard Webhooks, symmetric (v1), HMAC-SHA-256 over `id.timestamp.payload`. Uses only
 * Web Crypto, in constant time. Delivery is at least once: use the event's id to detect a repeat.
 *
 * @param payload The raw body. Parsing and serialising it again would change its bytes.
 * @param headers webhook-id, webhook-timestamp and webhook-signature, which has several signatures during a rotation.
 * @param secrets The secret from setWebhook (whsec_…), or several, any of which may match.
 * @param toleranceSeconds The largest difference between the timestamp and now. Default 300.
 * @returns The parsed payload.
 * @throws WebhookVerificationError, whose `reason` names the failed check; TypeError if a secret is malformed.
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET)
 * if (event.type === 'item.created') console.log(event.data.item_id)
 */
export async function verifyWebhook<Payload = AtriumEvent>(
  payload: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  toleranceSeconds = defaultToleranceSeconds,
): Promise<Payload> {
  const keys = await Promise.all([secrets].flat().map(importSecret))
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`))
  if (!id || !timestamp || !signature) throw new WebhookVerificationError('missing_header')
  assertRecent(timestamp, toleranceSeconds)
  const signed = utf8(`${id}.${timestamp}.${payload}`)
  const shown = signature.split(' ').flatMap(signatureOf)
  if (!(await isSignedByAny(keys, shown, signed))) throw new WebhookVerificationError('bad_signature')
  try {
    return JSON.parse(payload) as Payload
  } catch {
    throw new WebhookVerificationError('not_json')
  }
}

/**
 * Signs a payload and returns the headers of the webhook, for tests of a receiver. Throws TypeError if the secret is
 * malformed.
 *
 * @example
 * const headers = await signWebhook(body, 'whsec_…', { id: 'evt_1' })
 * await fetch('https://app.example/hooks', { method: 'POST', body, headers })
 */
export async function signWebhook(payload: string, secret: string, { id, at = new Date() }: { id: string; at?: Date }) {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const mac = await crypto.subtle.sign('HMAC', await importSecret(secret), utf8(`${id}.${timestamp}.${payload}`))
  const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

type HmacKey = Awaited<ReturnType<typeof importSecret>>

function importSecret(secret: string) {
  const key = bytesOf(secret.replace(/^whsec_/, ''))
  // Anyone could sign with an empty key.
  if (!key || key.length === 0) throw new TypeError('The secret must be whsec_ and base64')
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : undefined
}

function assertRecent(timestamp: string, toleranceSeconds: number): void {
  if (!/^\d{1,15}$/.test(timestamp)) throw new WebhookVerificationError('bad_timestamp')
  const ageSeconds = Math.floor(Date.now() / 1_000) - Number(timestamp)
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('too_old')
  if (ageSeconds < -toleranceSeconds) throw new WebhookVerificationError('too_new')
}

/** Signatures of other versions, and what has not the length of a signature, are ignored. */
function signatureOf(text: string): Uint8Array<ArrayBuffer>[] {
  const bytes = text.startsWith('v1,') ? bytesOf(text.slice(3)) : undefined
  return bytes?.length === macBytes ? [bytes] : []
}

async function isSignedByAny(
  keys: HmacKey[],
  shown: Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  // One MAC for each key, because a stranger's request may show thousands of signatures of a long payload.
  const macs = await Promise.all(keys.map(async (key) => new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))))
  // Every pair is compared, so that the time says nothing about which one matched.
  return macs.flatMap((mac) => shown.map((signature) => isEqual(mac, signature))).includes(true)
}

/** Compares arrays of the same length in constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0
}

/** Decodes base64; undefined if the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
