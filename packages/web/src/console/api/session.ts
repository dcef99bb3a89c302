import { AtriumError } from '@atrium/client/atrium-error'
import { errorOfAnswer, makeError } from '@atrium/client/error-of-answer'
import type { MemberRole } from '@atrium/contract/roles'
import { Store } from '../../space/store.ts'

interface Member {
  id: string
  email: string
  name: string | null
  role: MemberRole
}

/** Who is signed in, as `GET /console/session` answers. */
export interface ConsoleSession {
  kind: 'tenant' | 'operator'
  tenant: { id: string; name: string } | null
  /** null for a session from `atrium console-link`, which has no member. */
  member: Member | null
  role: MemberRole | null
  /** Sent as X-Atrium-CSRF with every request of this session. */
  csrf: string
  expires_at: string
  console_url: string
  /** Whether the server runs in development. */
  development: boolean
}

/** A key of the tenant, member and role of a session. Sessions with equal keys count as the same person. */
export function personOf({ kind, tenant, member, role }: ConsoleSession): string {
  return JSON.stringify([kind, tenant?.id, member?.id, role])
}

interface SessionState {
  session: ConsoleSession | undefined
  /** The session ended while the page was open. */
  ended: boolean
  /** The session that this page signed out of, and whether all sessions of the person ended with it. */
  left?: { session: ConsoleSession; everywhere: boolean } | undefined
}

export const sessionStore = new Store<SessionState>({ session: undefined, ended: false })

/** The request header that proves that the console sent the request, and not another site. */
export const CSRF_HEADER = 'x-atrium-csrf'

/** The session of the browser's cookie; undefined if nobody is signed in. */
export async function loadSession(): Promise<ConsoleSession | undefined> {
  try {
    return await askConsole<ConsoleSession>('GET', '/console/session')
  } catch (error) {
    if (error instanceof AtriumError && error.status === 401) return undefined
    throw error
  }
}

/** Whether the session has ended, or the cookie belongs to a newer one, from a sign-in in another tab. */
function isOfEndedSession({ status, code }: AtriumError): boolean {
  return status === 401 || code === 'csrf_required'
}

/** What a one-time link opens. */
export interface LinkTarget {
  kind: 'operator' | 'tenant' | 'member'
  tenant: { id: string; name: string } | null
  role: MemberRole | null
  /** The invited address. */
  email: string | null
}

/** Does not use the link up. */
export function loadLinkTarget(linkSecret: string): Promise<LinkTarget> {
  return askConsole<LinkTarget>('POST', '/console/link', { body: { link_secret: linkSecret } })
}

/**
 * Exchanges the secret of a one-time link for the session cookie. Returns an address if the link is an invitation, which
 * is accepted with an account of the identity provider there.
 */
export async function signIn(linkSecret: string): Promise<string | undefined> {
  const body = { link_secret: linkSecret }
  return (await askConsole<{ sign_in_at?: string }>('POST', '/console/sign-in', { body })).sign_in_at
}

/** How people sign in. */
interface SignInWays {
  /** With accounts of an identity provider. */
  oidc: boolean
  /** That provider is the development sign-in, which accepts every address. */
  development: boolean
}

export function loadSignInWays(): Promise<SignInWays> {
  return askConsole<SignInWays>('GET', '/console/sign-in')
}

interface AskOptions {
  body?: object
  csrf?: string
}

/**
 * Calls a route of the console itself, which is not part of the contract. Throws AtriumError. With `csrf`, it is a call of
 * the session.
 */
export async function askConsole<Data>(method: 'GET' | 'POST', path: string, { body, csrf }: AskOptions = {}): Promise<Data> {
  const headers: Record<string, string> = {}
  if (body) headers['content-type'] = 'application/json'
  if (csrf !== undefined) headers[CSRF_HEADER] = csrf
  const init: RequestInit = { method, headers, credentials: 'same-origin', redirect: 'error' }
  const res = await fetch(path, body ? { ...init, body: JSON.stringify(body) } : init).catch((cause: unknown) => {
    throw makeError({ status: 0, code: 'network_error', message: 'The server could not be reached', cause })
  })
  const text = await res.text()
  if (!res.ok) {
    const error = errorOfAnswer(res, text)
    const isOfSession = csrf !== undefined && csrf === sessionStore.value.session?.csrf
    if (isOfSession && isOfEndedSession(error)) sessionStore.update({ ended: true })
    throw error
  }
  return (text === '' ? undefined : (JSON.parse(text) as { data: unknown }).data) as Data
}
