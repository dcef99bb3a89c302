import { listAllPublishedKeys } from '../agent-issuer/store.ts'
import type { Context } from '../context.ts'
import { leafOf, type LogEntry } from './entries.ts'
import { queueLeaves } from './store.ts'

/** Queues the public parts of the keys that the platform signs with. Those that are logged already stay as they are. */
export async function collectSigningKeys({ db }: Pick<Context, 'db'>): Promise<void> {
  const keys = await listAllPublishedKeys(db)
  await queueLeaves(
    db,
    keys.map(({ purpose, publicJwk }) => leafOf({ type: 'signing_key', use: purpose, jwk: publicJwk })),
  )
}

const timeoutMs = 3_000
const maxBytes = 16 * 1024

/** Queues the certificate that the Space service shows to everyone. If the service does not answer, the next call tries again. */
export async function collectCertificate({ db, config, log }: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const url = `${config.spaceOrigin}/cert.json`
  try {
    await queueLeaves(db, [leafOf(await fetchCertificate(url))])
  } catch (error) {
    log.warn({ err: error }, `the certificate at ${url} was not logged; trying again`)
  }
}

async function fetchCertificate(url: string): Promise<LogEntry> {
  const res = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  const body = await res.text()
  if (res.status !== 200 || body.length > maxBytes)
    throw new Error(`${url} answered ${res.status} with ${body.length} characters`)
  const { signed, sig, alg, pubkey } = JSON.parse(body) as Record<string, unknown>
  if (typeof signed !== 'string' || typeof sig !== 'string' || typeof alg !== 'string' || !isObject(pubkey)) {
    throw new Error(`${url} is no certificate`)
  }
  return { type: 'certificate', signed, sig, alg, pubkey }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
