import { AtriumError } from '@atrium/client/atrium-error'
import type { InputOf, ResultOf } from '@atrium/client/call'
import { createClient } from '@atrium/client/create-client'
import { errorOfAnswer } from '@atrium/client/error-of-answer'
import type { Operations, ServedOperationId } from '@atrium/contract/table'
import { askConsole, type ConsoleSession, CSRF_HEADER, sessionStore } from './session.ts'

/** The signed-in session. Pages exist only while there is one. */
export function currentSession(): ConsoleSession {
  const { session } = sessionStore.value
  if (!session) throw new Error('no page is shown without a session')
  return session
}

/** The input of an operation without the collection's token: the role of the member stands for it. */
type SessionInput<Id extends ServedOperationId> = Omit<InputOf<Operations[Id]>, 'collectionToken'>

type ConsoleApi = {
  readonly [Id in ServedOperationId]: (
    ...args: Record<never, never> extends SessionInput<Id> ? [input?: SessionInput<Id>] : [input: SessionInput<Id>]
  ) => Promise<ResultOf<Operations[Id]>>
}

/**
 * The contract's operations, called with the session's cookie. A method for each operation, with the types of the
 * contract; see createClient.
 */
export const api: ConsoleApi = createClient({ baseUrl: location.origin, fetch: fetchWithSession }) as ConsoleApi

/** Ends this session, or all sessions of the member. */
export async function signOut(everywhere: boolean): Promise<void> {
  const path = everywhere ? '/console/sign-out-everywhere' : '/console/sign-out'
  const session = currentSession()
  try {
    await askConsole('POST', path, { csrf: session.csrf })
  } catch (error) {
    // This session has ended already. The others can only be ended by a session.
    if (everywhere || !(error instanceof AtriumError) || error.code !== 'no_console_session') throw error
  }
  sessionStore.update({ session: undefined, ended: false, left: { session, everywhere } })
}

async function fetchWithSession(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const { session, ended } = sessionStore.value
  // The page below the sign-in still sends requests, which the server would refuse.
  if (ended) return new Response(null, { status: 401 })
  const headers = new Headers(init.headers)
  headers.set(CSRF_HEADER, session?.csrf ?? '')
  // Public lists may be cached for a minute. Here a change must be in the next answer.
  const res = await fetch(input, { cache: 'no-cache', ...init, headers, credentials: 'same-origin' })
  // A 401 of a request with a control token is about that session of an agent.
  // A late answer to a request of an earlier session does not end this one.
  const isOfSession = !headers.has('authorization') && session === sessionStore.value.session
  if (isOfSession && (res.status === 401 || (await isOfOldSession(res)))) sessionStore.update({ ended: true })
  return res
}

/** Whether the server refused the request because the cookie belongs to a newer session, from a sign-in in another tab. */
async function isOfOldSession(res: Response): Promise<boolean> {
  if (res.status !== 403) return false
  return errorOfAnswer(res, await res.clone().text()).code === 'csrf_required'
}

/** Fetches bytes of the API, such as a picture, with the session. Throws AtriumError. */
export async function fetchBytes(path: string, signal?: AbortSignal): Promise<Blob> {
  const res = await fetchWithSession(path, { cache: 'default', ...(signal ? { signal } : {}) })
  if (!res.ok) throw errorOfAnswer(res, await res.text())
  return res.blob()
}
