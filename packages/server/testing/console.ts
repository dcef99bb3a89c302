import { randomUUID } from 'node:crypto'
import { send, type Got } from './http.ts'
import type { TestApi } from './test-api.ts'

interface Link {
  url: string
}

/** A browser that is signed in to the console. */
export interface TestBrowser {
  /** As a browser sends them: the session first. */
  cookies: string[]
  csrf: string
  // oxlint-disable-next-line typescript/no-explicit-any
  session: any
  /** Calls an operation below /v1. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Got>
  /** Calls a route at the origin. */
  call(method: string, path: string): Promise<Got>
}

export async function consoleLink(api: TestApi, body: { kind: string; tenant_id?: string }): Promise<Link> {
  const made = await send(api, 'POST', '/operator/console-links', { headers: { 'x-admin-token': api.adminToken }, body })
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  return made.body.data
}

/** Exchanges the link. Throws with the status and code if it is refused. */
export async function signIn(api: TestApi, link: Link, headers: Record<string, string> = {}): Promise<TestBrowser> {
  const body = { link_secret: link.url.split('#link=')[1] }
  const signed = await send({ baseUrl: api.origin }, 'POST', '/console/sign-in', { body, headers })
  if (signed.status !== 200) throw new Error(`${signed.status} ${signed.body.error.code}`)
  return openBrowser(api, signed)
}

/** The browser that received this answer's cookies. */
export async function openBrowser(api: TestApi, answer: Got): Promise<TestBrowser> {
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  const cookie = cookies.join('; ')
  const shown = await send({ baseUrl: api.origin }, 'GET', '/console/session', { headers: { cookie } })
  if (shown.status !== 200) throw new Error(`${shown.status} ${shown.text}`)
  const session = shown.body.data
  const proof = { cookie, 'x-atrium-csrf': session.csrf }
  return {
    cookies,
    csrf: session.csrf,
    session,
    send: (method, path, body, headers) => send(api, method, path, { body, headers: { ...proof, ...headers } }),
    call: (method, path) => send({ baseUrl: api.origin }, method, path, { headers: proof }),
  }
}

/** Invites somebody, who signs in with the link. */
export async function invite(api: TestApi, owner: TestBrowser, role: string) {
  const body = { email: `${randomUUID()}@harbour.example`, role }
  const made = await owner.send('POST', '/tenant/members', body)
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  const { invitation, ...member } = made.body.data
  return { member, browser: await signIn(api, invitation) }
}
