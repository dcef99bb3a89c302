import { appPageEntry, filesNamedIn } from '@atrium/log/app-page'
import { getBytes } from '#ports/get-bytes.ts'
import { listAllPublishedKeys } from '../platform-keys/store.ts'
import type { Context } from '../context.ts'
import { leafOf, type LogEntry, type ShownType } from './entries.ts'
import { queueLeaves, saveShown } from './store.ts'

/** Queues the public parts of the keys that the platform signs with. Those that are logged already stay as they are. */
export async function collectSigningKeys({ db }: Pick<Context, 'db'>): Promise<void> {
  const keys = await listAllPublishedKeys(db)
  await queueLeaves(
    db,
    keys.map(({ purpose, publicJwk }) => leafOf({ type: 'signing_key', use: purpose, jwk: publicJwk })),
  )
}

/** Returns whether it is something that was never shown before. */
async function queueShown(db: Context['db'], entry: Extract<LogEntry, { type: ShownType }>): Promise<boolean> {
  const leaf = leafOf(entry)
  const added = await queueLeaves(db, [leaf])
  await saveShown(db, entry.type, leaf.leafHash)
  return added > 0
}

const timeoutMs = 3_000
const maxBytes = 16 * 1024

/** No installation needs more processes of Space behind one address. */
const maxCertificates = 16

/**
 * Queues the certificates that the Space service shows to everyone. If the service does not answer, the next call tries
 * again. With a new certificate, it also queues the page, which is part of the certified code: visitors who check the
 * page wait for it.
 */
export async function collectCertificate(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const { db, config, log } = ctx
  const { spaceOrigin, spacesUrl } = config
  let isNew = false
  const onNew = () => {
    isNew = true
  }
  try {
    await queueCertificates(db, spaceOrigin, onNew)
  } catch (error) {
    log.warn({ err: error }, `the certificate at ${spaceOrigin}/cert.json could not be read; trying again`)
  }
  // The public address also leads to the processes of other machines. This machine need not reach it.
  if (spacesUrl !== spaceOrigin) await queueCertificates(db, spacesUrl, onNew).catch(() => undefined)
  if (isNew) await collectAppPage(ctx)
}

/** Each process has signed a certificate of its own, so the address is asked until it shows one again. */
async function queueCertificates(db: Context['db'], origin: string, onNew: () => void): Promise<void> {
  const seen = new Set<string>()
  while (seen.size < maxCertificates) {
    const certificate = await fetchCertificate(`${origin}/cert.json`)
    if (seen.has(certificate.sig)) break
    seen.add(certificate.sig)
    if (await queueShown(db, certificate)) onNew()
  }
}

/**
 * Queues the page of the Space app as it is served to everyone, with the files that it names and the hash of the certified
 * code. A service that is being replaced meanwhile is asked again by the next call.
 */
export async function collectAppPage({ db, config, log }: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  try {
    const code = await fetchCode(config.spaceOrigin)
    const page = await fetchBytes(`${config.spaceOrigin}/space`)
    const files = new Map<string, Buffer>()
    for (const path of filesNamedIn(page)) files.set(path, await fetchBytes(`${config.spaceOrigin}${path}`))
    if ((await fetchCode(config.spaceOrigin)) !== code) return
    await queueShown(db, appPageEntry({ page, files, code }))
  } catch (error) {
    log.warn({ err: error }, `the page at ${config.spaceOrigin}/space was not logged; trying again`)
  }
}

/** The hash of the code, of which the Space service says that it makes the page. */
async function fetchCode(spaceOrigin: string): Promise<string> {
  const { signed } = await fetchCertificate(`${spaceOrigin}/cert.json`)
  const { functionCodeSha256: code } = JSON.parse(signed) as Record<string, unknown>
  if (typeof code !== 'string') throw new Error('the certificate names no code')
  return code
}

const maxFileBytes = 8 * 1024 * 1024

const fetchBytes = (url: string) => getBytes(url, { maxBytes: maxFileBytes, timeoutMs })

async function fetchCertificate(url: string): Promise<Extract<LogEntry, { type: 'certificate' }>> {
  const body = await getBytes(url, { maxBytes, timeoutMs })
  const { signed, sig, alg, pubkey } = JSON.parse(body.toString()) as Record<string, unknown>
  if (typeof signed !== 'string' || typeof sig !== 'string' || typeof alg !== 'string' || !isObject(pubkey)) {
    throw new Error(`${url} is no certificate`)
  }
  return { type: 'certificate', signed, sig, alg, pubkey }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
