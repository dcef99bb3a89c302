import { createHmac, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AtriumEvent } from '@atrium/client/atrium-event'
import { AtriumError } from '@atrium/client/atrium-error'
import type { AtriumClient } from '@atrium/client/call'
import { createClient } from '@atrium/client/create-client'
import { followStream } from '@atrium/client/follow-stream'
import { isTransient } from '@atrium/room-client/retry'
import type { EventType } from '@atrium/contract/event-types'
import { isCredential } from '@atrium/contract/tokens'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'
import { OperatorError } from './operator-api.ts'
import { toPlainJson } from './plain-json.ts'

export interface ListenOptions {
  types?: EventType[]
  forward?: string
  secretFile?: string
  json?: true
}

/** As for a webhook. */
const forwardTimeoutMs = 15_000

/** Prints the events of the tenant as they happen, and sends them to a local address. Ends with SIGINT or SIGTERM. */
export async function listen({ types, forward, secretFile, json }: ListenOptions): Promise<void> {
  const { client, publicUrl } = openClient()
  const secret = forward === undefined ? undefined : await readSecret(secretFile)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  await assertReachable(client, publicUrl, stop.signal)
  if (stop.signal.aborted) return
  console.error(`Events of ${publicUrl}, from now on.${types ? ` Only ${types.join(', ')}.` : ''}`)
  if (forward !== undefined && secret !== undefined)
    console.error(
      `Each is sent to ${forward}, signed with ${secretFile === undefined ? `${secret} (for this run)` : secretFile}.`,
    )
  try {
    for await (const message of followStream(reportLoss(client, publicUrl), { signal: stop.signal })) {
      const { event: name, data: event } = message
      if (name === 'reset')
        console.error('The connection was lost for so long that events were missed. Read them with GET /events.')
      // What is no event has no data: ready, reset.
      if (!('type' in event)) continue
      if (types && !types.includes(event.type)) continue
      console.log(json ? toPlainJson(event) : lineOf(event))
      if (forward !== undefined && secret !== undefined) console.error(await deliver(event, forward, secret, stop.signal))
    }
  } catch (error) {
    throw error instanceof AtriumError ? explain(error, publicUrl) : error
  }
}

/** Opens the stream, which is called again whenever the connection ends. Prints once that it fails, and that it succeeds again. */
function reportLoss(client: AtriumClient, publicUrl: string): AtriumClient['streamEvents'] {
  let isLost = false
  return async (input) => {
    try {
      const answer = await client.streamEvents(input)
      if (isLost) console.error(`Connected to ${publicUrl} again.`)
      isLost = false
      return answer
    } catch (error) {
      if (!isLost && error instanceof AtriumError && isTransient(error) && !input?.signal?.aborted)
        console.error(`No connection to ${publicUrl} (${error.code}). Retrying until the connection succeeds.`)
      isLost = true
      throw error
    }
  }
}

function openClient(): { client: AtriumClient; publicUrl: string } {
  const env = readEnv()
  const key = secretKeyOf(env.key)
  const { publicUrl } = readConfig(env)
  return { client: createClient({ baseUrl: publicUrl, key }), publicUrl }
}

function secretKeyOf(key: string | undefined): string {
  if (key === undefined) throw new OperatorError('no secret key: set ATRIUM_KEY to the secret key (wsk_…) of the tenant')
  if (isCredential('publishableKey', key))
    throw new OperatorError('ATRIUM_KEY is a publishable key (wpk_…): set it to the secret key (wsk_…), which may read events')
  if (!isCredential('secretKey', key))
    throw new OperatorError(
      'ATRIUM_KEY is not a complete secret key. A secret key begins with wsk_ and has 40 characters in total. Copy it again',
    )
  return key
}

/** followStream tries again for ever where no server answers. So the first call shows a wrong address or key. */
async function assertReachable(client: AtriumClient, publicUrl: string, signal: AbortSignal): Promise<void> {
  try {
    await client.getTenant({ signal })
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof AtriumError)) throw error
    if (error.status !== 0) throw explain(error, publicUrl)
    throw new OperatorError(`no server answers at ${publicUrl}; is it running? (set ATRIUM_PUBLIC_URL or PORT to its address)`)
  }
}

function explain({ message, code, requestId }: AtriumError, publicUrl: string): OperatorError {
  return new OperatorError(`${publicUrl}: ${message} (${code}${requestId === undefined ? '' : `, request ${requestId}`})`)
}

async function readSecret(path: string | undefined): Promise<string> {
  if (path === undefined) return `whsec_${randomBytes(32).toString('base64')}`
  const secret = await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
  if (secret === undefined || !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret))
    throw new OperatorError(`${path} must be a file with a webhook secret (whsec_…)`)
  return secret
}

function lineOf({ created_at: at, type, sequence, id, data }: AtriumEvent): string {
  return `${at.slice(11, 19)} #${sequence} ${type} ${id} ${toPlainJson(data)}`
}

/**
 * Sends the event once, in the form of a webhook. Returns what to print of the outcome. The body of the answer is not
 * printed, because it could contain control characters.
 */
async function deliver(event: AtriumEvent, url: string, secret: string, stopped: AbortSignal): Promise<string> {
  const body = JSON.stringify(event)
  const headers = { 'content-type': 'application/json', ...signedHeaders(secret, event.id, body) }
  const beganMs = performance.now()
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(forwardTimeoutMs)])
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await answer.body?.cancel()
    return `  ${answer.status} of ${url} in ${Math.round(performance.now() - beganMs)} ms`
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    const reason =
      (error as Error).name === 'TimeoutError' ? `no answer within ${forwardTimeoutMs / 1_000} s` : (code ?? 'stopped')
    return `  not delivered to ${url}: ${reason}`
  }
}

/**
 * The headers of Standard Webhooks. The package that the server signs with has no licence in its folder, so it cannot
 * be part of this command line's package; a test compares the two.
 */
function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
