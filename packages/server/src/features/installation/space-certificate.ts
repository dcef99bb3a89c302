import { createHash } from 'node:crypto'
import { limits } from '@atrium/contract/limits'
import { parseJsonObject } from '@atrium/contract/strict-json'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { isEs256Signature } from '@atrium/identity/signature'
import { thumbprint } from '@atrium/identity/thumbprint'
import type { Context } from '#features/context.ts'
import type { HandlerOf, Handlers } from '#features/handler.ts'
import { cutPageBy, makeTimeCursor, readTimeCursor } from '#http/cursor.ts'
import { AnswerTooLong, getBytes } from '#ports/get-bytes.ts'
import { findCertificate, listCertificates as rowsOf, saveCertificate, type SeenCertificate } from './certificate-store.ts'

const timeoutMs = 3_000
const maxBytes = 64 * 1024

type Served = Pick<SeenCertificate, 'digest' | 'signed' | 'keyThumbprint'>

/** What the Space service answers at /cert.json; undefined: it does not answer. null: not what its key has signed. */
async function fetchCertificate({ config }: Pick<Context, 'config'>): Promise<Served | null | undefined> {
  try {
    return checkCertificate((await getBytes(`${config.spaceOrigin}/cert.json`, { maxBytes, timeoutMs })).toString())
  } catch (error) {
    // The operation says unreachable; why is in the log of the Space service, or the network has no way to it.
    return error instanceof AnswerTooLong ? null : undefined
  }
}

function checkCertificate(text: string): Served | null {
  const { signed, sig, alg, pubkey } = parseJsonObject(text) ?? {}
  const key = parseDeviceKey(pubkey)
  if (alg !== 'ES256' || !key || typeof signed !== 'string' || typeof sig !== 'string') return null
  if (!isEs256Signature(key.publicKey, signed, sig) || !parseJsonObject(signed)) return null
  return { digest: createHash('sha256').update(signed).digest('hex'), signed, keyThumbprint: thumbprint(key.jwk) }
}

/** Records the certificate that the Space service answers with now. Without an answer, nothing is recorded. */
export async function recordCertificate(ctx: Pick<Context, 'config' | 'db'>): Promise<void> {
  const served = await fetchCertificate(ctx)
  if (served) await saveCertificate(ctx.db, served)
}

const readSpace: HandlerOf<'readSpace'> = async ({ ctx }) => {
  const url = ctx.config.spacesUrl
  const served = await fetchCertificate(ctx)
  if (!served)
    return { status: 200, data: { url, state: served === null ? 'invalid' : 'unreachable', certificate: null } as const }
  const seen = await findCertificate(ctx.db, served.digest)
  return { status: 200, data: { url, state: 'answering', certificate: certificateView(served, seen) } }
}

const list = 'space certificates'

const listCertificates: HandlerOf<'listCertificates'> = async ({ ctx, query }) => {
  const { limit = limits.pageDefault } = query
  const rows = await rowsOf(ctx.db, readTimeCursor(list, query.cursor), limit + 1)
  const { page, nextCursor } = cutPageBy(rows, limit, ({ firstSeenAt, digest }) =>
    makeTimeCursor(list, { createdAt: firstSeenAt, id: digest }),
  )
  return { status: 200, data: page.map((one) => certificateView(one, one)), nextCursor }
}

function certificateView({ digest, signed, keyThumbprint }: Served, seen: SeenCertificate | undefined) {
  const { gitCommit, functionCodeSha256, sourceSha256, egress } = parseJsonObject(signed) ?? {}
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    digest,
    git_commit: text(gitCommit),
    function_code_sha256: text(functionCodeSha256),
    source_sha256: text(sourceSha256),
    egress: Array.isArray(egress) ? egress.filter((place) => typeof place === 'string') : [],
    key_thumbprint: keyThumbprint,
    first_seen_at: seen?.firstSeenAt ?? null,
    last_seen_at: seen?.lastSeenAt ?? null,
  }
}

export const spaceCertificateHandlers = { readSpace, listCertificates } satisfies Partial<Handlers>
