import type { AuditedOperation } from '@atrium/contract/audit-words'
import { isCredential } from '@atrium/contract/tokens'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import type { Database, Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import type { AuditActor } from '#features/audit-log/audit-entry.ts'
import type { Context } from '#features/context.ts'
import type { ConsoleAccount } from '#ports/console-identity.ts'
import { notifyKeyChange } from '#features/keys/store.ts'
import { assertActive } from '#features/tenants/assert-active.ts'
import { findDevelopmentTenant } from '#features/tenants/store.ts'
import { findLink, insertLink, type LinkTarget, type LinkView, takeLink, viewLink } from './link-store.ts'
import { type Account, joinMember, listMembersForUpdate, listMemberships } from './member-store.ts'
import { type ConsoleSession, lifetimeSeconds, linkSeconds } from './session.ts'
import { deleteSession, deleteSessionsByToken, deleteSessionsOf, insertSession } from './session-store.ts'

/** The browser that signs in or out. */
export interface Browser {
  address: string
  userAgent: string | undefined
  requestId: string
  /** Hashes of the tokens of the sessions that it has. A new session ends them, since the browser keeps only its cookie. */
  tokenHashes: readonly Buffer[]
}

/** The secrets of a new session, which only the browser has from now on. */
export interface NewCookies {
  token: string
  csrf: string
}

/** Creates a one-time link. Its secret is returned only here. */
export async function makeLink(
  tx: Tx,
  consoleUrl: string,
  target: LinkTarget,
  seconds: number = linkSeconds,
): Promise<{ url: string; expiresAt: string }> {
  const secret = newCredential('consoleLink')
  const expiresAt = await insertLink(tx, hashCredential(secret), target, seconds)
  return { url: `${consoleUrl}/console#link=${secret}`, expiresAt }
}

/** A link for the developer who starts a server on this machine. undefined: there is no development tenant. */
export function makeDevelopmentLink(db: Database, consoleUrl: string): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const tenantId = await findDevelopmentTenant(tx)
    return tenantId === undefined ? undefined : (await makeLink(tx, consoleUrl, { kind: 'tenant', tenantId })).url
  })
}

/** What a link opens, for the page to name it before it is used. */
export async function describeLink(db: Database, secret: string): Promise<LinkView> {
  const link = isCredential('consoleLink', secret) ? await viewLink(db, hashCredential(secret)) : undefined
  if (!link) throw new ApiError('console_link_invalid')
  return link
}

/**
 * Exchanges a one-time link for a session. undefined: it is an invitation, which is accepted with an account of the
 * identity provider.
 */
export async function signInByLink(ctx: Context, secret: string, browser: Browser): Promise<NewCookies | undefined> {
  if (!isCredential('consoleLink', secret)) throw new ApiError('console_link_invalid')
  if (ctx.consoleIdentity && (await findLink(ctx.db, hashCredential(secret)))?.kind === 'member') return undefined
  return ctx.db.transaction(async (tx) => {
    const target = await takeLink(tx, hashCredential(secret))
    if (!target) throw new ApiError('console_link_invalid')
    if (target.kind === 'member' && !(await joinMember(tx, target.tenantId, target.memberId, undefined, undefined)))
      throw new ApiError('console_link_invalid')
    return beginSession(tx, target, browser)
  })
}

/** Signs a member in by its account: the one that the invitation is for, or one that has signed in before. */
export async function signInByAccount(
  ctx: Context,
  person: ConsoleAccount,
  { invitation, tenantId }: { invitation: string | undefined; tenantId: string | undefined },
  browser: Browser,
): Promise<NewCookies> {
  return ctx.db.transaction(async (tx) => {
    const member = invitation === undefined ? undefined : await acceptInvitation(tx, invitation, person)
    const known = await listMemberships(tx, person)
    const chosen = member ?? known.find((one) => one.tenantId === tenantId) ?? (tenantId === undefined ? known[0] : undefined)
    if (!chosen) throw new NotAMemberError()
    if (!(await joinMember(tx, chosen.tenantId, chosen.memberId, person, person.name))) throw new NotAMemberError()
    return beginSession(tx, { kind: 'member', ...chosen }, browser)
  })
}

/** The account is genuine, and belongs to no member. */
export class NotAMemberError extends Error {
  override name = 'NotAMemberError'
}

async function acceptInvitation(tx: Tx, secret: string, person: ConsoleAccount) {
  const target = await takeLink(tx, hashCredential(secret))
  if (target?.kind !== 'member') throw new ApiError('console_link_invalid')
  const { tenantId, memberId } = target
  const members = await listMembersForUpdate(tx, tenantId)
  const invited = members.find(({ id }) => id === memberId)
  // Whoever got hold of the link has no account of this address.
  if (invited?.email !== person.email) throw new ApiError('console_link_invalid')
  const isTaken = members.some(({ id, account }) => account && id !== memberId && isSameAccount(account, person))
  if (isTaken || (invited.account && !isSameAccount(invited.account, person))) throw new ApiError('console_link_invalid')
  return { tenantId, memberId }
}

function isSameAccount(one: Account, other: Account): boolean {
  return one.issuer === other.issuer && one.subject === other.subject
}

async function beginSession(tx: Tx, target: LinkTarget, browser: Browser): Promise<NewCookies> {
  const [token, csrf] = [newCredential('consoleSession'), newCredential('consoleCsrf')]
  const id = newId('consoleSession')
  const tenantId = target.kind === 'operator' ? undefined : target.tenantId
  const memberId = target.kind === 'member' ? target.memberId : undefined
  // No request accepts such a session, so it must neither end the one that the browser has nor use the link up.
  if (tenantId !== undefined) await assertActive(tx, tenantId)
  const { address, userAgent, tokenHashes } = browser
  for (const replaced of await deleteSessionsByToken(tx, tokenHashes)) {
    await recordSignIn(tx, 'signOutOfConsole', replaced, browser)
    endStreamsOf(tx, replaced)
  }
  const hashes = { tokenHash: hashCredential(token), csrfHash: hashCredential(csrf) }
  await insertSession(tx, { id, ...hashes, tenantId, memberId, address, userAgent: userAgent?.slice(0, 300), lifetimeSeconds })
  await recordSignIn(tx, 'signInToConsole', { id, tenantId, memberId }, browser)
  return { token, csrf }
}

interface Holder {
  id: string
  tenantId: string | undefined
  memberId: string | undefined
}

/** The actor of the audit log. A session without a member is named by its own id, which its sign-in recorded. */
export function actorOf({ id, tenantId, memberId }: Holder): AuditActor {
  if (tenantId === undefined) return { kind: 'operator', id, name: 'console' }
  return { kind: 'member', id: memberId ?? id, name: null }
}

async function recordSignIn(tx: Tx, operation: AuditedOperation, holder: Holder, { address, requestId }: Browser): Promise<void> {
  const { id, tenantId } = holder
  await recordAudit(tx, { actor: actorOf(holder), tenantId, operation, params: { session_id: id }, address, requestId })
}

export function holderOf({ id, tenant, member }: ConsoleSession): Holder {
  return { id, tenantId: tenant?.id, memberId: member?.id }
}

/** Ends the session, or all sessions of its holder. */
export async function signOut(ctx: Context, session: ConsoleSession, everywhere: boolean, browser: Browser): Promise<void> {
  const holder = holderOf(session)
  await ctx.db.transaction(async (tx) => {
    if (everywhere) await deleteSessionsOf(tx, holder)
    else await deleteSession(tx, session.id)
    await recordSignIn(tx, everywhere ? 'signOutOfConsoleEverywhere' : 'signOutOfConsole', holder, browser)
    endStreamsOf(tx, holder)
  })
}

/** Streams that a session opened end with it. */
function endStreamsOf(tx: Tx, { tenantId }: Holder): void {
  if (tenantId !== undefined) notifyKeyChange(tx, tenantId)
}
