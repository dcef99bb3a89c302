import type { AtriumEvent } from './atrium-event.ts'

/** A Headers object, or the plain one that node:http has. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

/** Why a request is not believed. */
export type WebhookDoubt =
  | 'missing_header'
  | 'bad_timestamp'
  | 'too_old'
  | 'too_new'
  | 'bad_signature'
  | 'not_json'
  | 'unknown_type'

/** The request is not what the holder of the secret sent a moment ago. Answer it with 400 or 401, and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookDoubt

  constructor(reason: WebhookDoubt) {
    super(`The webhook is not genuine: ${reason}`)
    this.reason = reason
  }
}

const defaultToleranceSeconds = 5 * 60

/**
 * Whether a request is genuine: Standard Webhooks, symmetric (v1), which is HMAC-SHA-256 over `id.timestamp.payload`. By Web Crypto alone, in
 * constant time. Deliveries come at least once: the event's id tells a repeat.
 *
 * @param payload The body exactly as it came, not parsed and put together again.
 * @param headers webhook-id, webhook-timestamp and webhook-signature; while a secret rotates there are several signatures.
 * @param secrets whsec_… of setWebhook, or several of which any will do.
 * @param toleranceSeconds How far the timestamp may be from now, either way. Default 300.
 * @returns The parsed payload.
 * @throws WebhookVerificationError, whose `reason` says why; TypeError where a secret is not one.
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

/** The headers that a sender would send: for tests of what receives webhooks. Throws TypeError where the secret is not one. */
export async function signWebhook(payload: string, secret: string, { id, at = new Date() }: { id: string; at?: Date }) {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const mac = await crypto.subtle.sign('HMAC', await importSecret(secret), utf8(`${id}.${timestamp}.${payload}`))
  const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

type HmacKey = Awaited<ReturnType<typeof importSecret>>

function importSecret(secret: string) {
  const key = bytesOf(secret.replace(/^whsec_/, ''))
  // An empty key would verify what anyone can sign.
  if (!key || key.length === 0) throw new TypeError('The secret must be whsec_ and base64')
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
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

/** Other versions of signatures are passed over. */
function signatureOf(text: string): Uint8Array<ArrayBuffer>[] {
  const bytes = text.startsWith('v1,') ? bytesOf(text.slice(3)) : undefined
  return bytes ? [bytes] : []
}

async function isSignedByAny(
  keys: HmacKey[],
  shown: Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const checks = keys.flatMap((key) => shown.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)))
  return (await Promise.all(checks)).includes(true)
}

/** undefined: not base64. */
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
