import { hash, timingSafeEqual, verify } from 'node:crypto'
import { findCredentials } from '@atrium/contract/find-credentials'
import { namesOf } from '@atrium/contract/names-of'
import { type CredentialKind, credentialPrefixes, isCredential } from '@atrium/contract/tokens'
import { ApiError } from '#errors/api-error.ts'
import type { AuditOrigin } from '#features/audit-log/audit-entry.ts'
import type { Context } from '#features/context.ts'
import type { HandlerOf } from '#features/handler.ts'
import { resolveKeys } from '#features/keys/store.ts'
import { authenticateBootstrap, authenticateOperator } from '#features/operator-credentials/authenticate-operator.ts'
import { revokeLeakedCredential } from '#features/operator-credentials/revoke-leaked.ts'
import type { Sighting } from './leak.ts'
import { recordKeyLeaks } from './record-key-leaks.ts'

type Report = Parameters<HandlerOf<'reportLeakedKeys'>>[0]

interface Reported extends Sighting {
  token: string
  type: string
  kind: CredentialKind | undefined
  /** SHA-256. */
  hash: Buffer
}

/**
 * Takes a report that is signed or that an operator sends. Who sent it is checked before anything is looked up. Each
 * tenant has its own transaction, so that a report which fails between two of them may be repeated.
 */
export const reportLeakedKeys: HandlerOf<'reportLeakedKeys'> = async (call) => {
  const { ctx, body } = call
  const audit = await assertMayReport(call)
  const reported = body.map(toReported)
  const known = new Set([...(await reportKeys(ctx, audit, reported)), ...(await reportOperatorTokens(ctx, audit, reported))])
  return { status: 200, data: reported.map((one) => verdictOn(one, known)) }
}

/** Returns who is named in the audit log. */
async function assertMayReport(call: Report): Promise<AuditOrigin> {
  const { ctx, headers, audit } = call
  if (!audit) throw new Error('a report of leaked keys is audited')
  if (headers['x-admin-token'] === undefined) {
    await assertSigned(call)
    return audit
  }
  const operator = authenticateBootstrap(ctx, headers) ?? (await authenticateOperator(ctx, headers))
  return { ...audit, actor: { kind: 'operator', ...operator } }
}

async function assertSigned({ ctx, headers, rawBody }: Report): Promise<void> {
  const identifier = headers['github-public-key-identifier']
  const signature = headers['github-public-key-signature']
  const refused = (message: string) => new ApiError('unauthorized', { message })
  if (typeof identifier !== 'string' || typeof signature !== 'string' || identifier === '' || signature === '')
    throw refused('The report is not signed. Send Github-Public-Key-Identifier and Github-Public-Key-Signature.')
  const key = await ctx.reportKeys.find(identifier)
  if (!key) throw refused('Github-Public-Key-Identifier names no key that is published.')
  if (!verify('sha256', rawBody, { key, dsaEncoding: 'der' }, Buffer.from(signature, 'base64')))
    throw refused('Github-Public-Key-Signature is not a signature of this body with that key.')
}

const kinds = namesOf(credentialPrefixes)
const maxTextLength = 2_000

function toReported({ token, type, url, source }: Report['body'][number]): Reported {
  return {
    token,
    type,
    // Most texts that only look like a key fail their checksum here, and are never looked up.
    kind: kinds.find((kind) => isCredential(kind, token)),
    hash: hash('sha256', token, 'buffer'),
    url: textOf(url, token),
    source: textOf(source, token),
  }
}

/** What is stored and sent to the tenant contains neither the token nor a credential, which may be another tenant's. */
function textOf(text: string | undefined, token: string): string | null {
  if (text === undefined || text === '' || (token !== '' && text.includes(token))) return null
  if (findCredentials(text).length > 0) return null
  return text.slice(0, maxTextLength).toWellFormed()
}

/** Returns the tokens that are secret keys of this installation. */
async function reportKeys(ctx: Context, audit: AuditOrigin, reported: Reported[]): Promise<Set<string>> {
  const secretKeys = reported.filter(({ kind }) => kind === 'secretKey')
  if (secretKeys.length === 0) return new Set()
  const keys = await resolveKeys(
    ctx.db,
    secretKeys.map((one) => one.hash.toString('base64')),
  )
  const found = secretKeys.flatMap((one, i) => {
    const key = keys[i]
    return key ? [{ one, key }] : []
  })
  for (const [tenantId, ofTenant] of Map.groupBy(found, ({ key }) => key.tenantId)) {
    const sightings = new Map(
      [...Map.groupBy(ofTenant, ({ key }) => key.id)].map(([id, group]) => [id, group.map(({ one }) => one)]),
    )
    const done = await ctx.db.lane(`${tenantId}/leaks`).transaction((tx) => recordKeyLeaks(tx, audit, tenantId, sightings))
    for (const { keyId, action } of done) ctx.log.warn({ tenantId, keyId, action }, 'a leaked key was reported')
  }
  return new Set(found.map(({ one }) => one.token))
}

/** Returns the tokens that operators of this installation have. */
async function reportOperatorTokens(ctx: Context, audit: AuditOrigin, reported: Reported[]): Promise<Set<string>> {
  const known = new Set<string>()
  for (const { token, kind, hash: tokenHash } of reported) {
    if (known.has(token)) continue
    if (timingSafeEqual(tokenHash, ctx.adminTokenHash)) {
      known.add(token)
      // It is in the settings, so that nothing here can revoke it.
      ctx.log.error('the token of ATRIUM_ADMIN_TOKEN was reported as leaked: replace it now')
    } else if (kind === 'operatorToken') {
      const found = await ctx.db.transaction((tx) => revokeLeakedCredential(tx, audit, tokenHash, ctx.config.bootstrapToken))
      if (!found) continue
      known.add(token)
      ctx.log.error({ credentialId: found.id, revoked: found.isRevoked }, 'the token of an operator was reported as leaked')
    }
  }
  return known
}

/** Credentials that are only known by their hash in one place, such as an admin token, are judged by their checksum. */
function verdictOn({ token, type, kind, hash: tokenHash }: Reported, known: ReadonlySet<string>) {
  const isLookedUp = kind === undefined || kind === 'secretKey' || kind === 'publishableKey' || kind === 'operatorToken'
  const isTrue = known.has(token) || !isLookedUp
  return {
    token_hash: tokenHash.toString('hex'),
    token_type: type,
    label: isTrue ? ('true_positive' as const) : ('false_positive' as const),
  }
}
