import { randomUUID } from 'node:crypto'
import { memberRoles, type MemberRole } from '../../packages/contract/src/roles.ts'
import type { ErrorCode } from '../../packages/contract/src/errors.ts'
import { takesConsoleSessions, type Operation } from '../../packages/contract/src/operation.ts'
import { askGood, call, type Answer, type TestTenant } from './call-api.ts'
import { kindOfParam, paramNames, randomId, type Shelf, type Things } from './matrix-world.ts'

/** Somebody who is or was signed in to the console, and what the session is worth. */
export interface Visitor {
  name: string
  headers: Record<string, string>
  worth: MemberRole | 'operator' | 'ended' | 'no csrf'
}

interface Link {
  url: string
}

/** Exchanges a link for the headers of a session. */
async function signIn(origin: string, { url }: Link): Promise<Record<string, string>> {
  const signed = await call(origin, 'POST /console/sign-in', { body: { link_secret: url.split('#link=')[1] } })
  const { csrf } = signed.data as unknown as { csrf: string }
  const lines = signed.headers['set-cookie'] as unknown as string[]
  return { cookie: lines.map((line) => line.split(';')[0]).join('; '), 'x-atrium-csrf': csrf }
}

async function openByLink(origin: string, body: object): Promise<Record<string, string>> {
  const { data } = await askGood(origin, 'POST /v1/operator/console-links', { operator: true, body })
  return signIn(origin, data)
}

/** The headers of an owner of the tenant who is signed in to the console. */
export function openConsole(origin: string, tenantId: string): Promise<Record<string, string>> {
  return openByLink(origin, { kind: 'tenant', tenant_id: tenantId })
}

/** Invites a person, as the owner with these headers. */
export async function inviteMember(
  origin: string,
  headers: Record<string, string>,
  role: MemberRole = 'analyst',
  email = `${randomUUID()}@harbour.example`,
): Promise<{ id: string; invitation: Link }> {
  const body = { role, email }
  return (await askGood(origin, 'POST /v1/tenant/members', { headers, body })).data as never
}

/** One visitor for each role and for each session that must not be accepted. */
export async function makeVisitors(origin: string, tenant: TestTenant): Promise<Visitor[]> {
  const first = await openConsole(origin, tenant.id)
  const join = async (role: MemberRole) => {
    const { id, invitation } = await inviteMember(origin, first, role)
    return { id, headers: await signIn(origin, invitation) }
  }
  const members = await Promise.all(
    memberRoles.map(async (role): Promise<Visitor> => ({ name: role, worth: role, headers: (await join(role)).headers })),
  )
  const removed = await join('owner')
  await askGood(origin, `DELETE /v1/tenant/members/${removed.id}`, { headers: first })
  const [left, another] = await Promise.all([join('owner'), join('owner')])
  await askGood(origin, 'POST /console/sign-out-everywhere', { headers: left.headers })
  const { cookie = '' } = first
  const ended = (name: string, { headers }: { headers: Record<string, string> }): Visitor => ({ name, headers, worth: 'ended' })
  return [
    ...members,
    { name: 'operator', worth: 'operator', headers: await openByLink(origin, { kind: 'operator' }) },
    ended('removed owner', removed),
    ended('owner who signed out everywhere', left),
    { name: 'owner without a CSRF token', worth: 'no csrf', headers: { cookie } },
    {
      name: 'owner with the CSRF token of another session',
      worth: 'no csrf',
      headers: { cookie, 'x-atrium-csrf': another.headers['x-atrium-csrf'] ?? '' },
    },
  ]
}

/** Why the visitor is refused, according to the contract; undefined: the role is allowed. */
export function expectedRefusal(op: Operation, { worth }: Visitor): ErrorCode | undefined {
  if (op.caller === 'anyone') return undefined
  if (!takesConsoleSessions(op)) return 'unauthorized'
  if (worth === 'ended') return 'no_console_session'
  if (worth === 'no csrf') return 'csrf_required'
  if (op.caller === 'operator' || worth === 'operator')
    return op.caller === 'operator' && worth === 'operator' ? undefined : 'role_not_allowed'
  return op.roles?.includes(worth) ? undefined : 'role_not_allowed'
}

const refusals: readonly (string | undefined)[] = [
  'unauthorized',
  'no_console_session',
  'csrf_required',
  'role_not_allowed',
  'secret_key_required',
  'owner_token_required',
  'contributor_token_required',
] satisfies ErrorCode[]

/** The refusal in an answer; undefined: the caller was let in, whatever came of it. */
export function refusalIn({ code }: Answer): string | undefined {
  return refusals.includes(code) ? code : undefined
}

export interface RoleCell {
  op: Operation
  who: Visitor
  target: 'own' | "another tenant's" | 'unknown'
}

/** A call that is let in and changes something has a target that does not exist, so that all cells share one shelf. */
export function roleCells(op: Operation, visitors: Visitor[]): RoleCell[] {
  return visitors.flatMap((who) => {
    // It would suspend the tenant of all other cells. data-of-an-owner.test.ts calls it.
    if (op.id === 'deleteOwnTenant' && expectedRefusal(op, who) === undefined) return []
    if (paramNames(op).length === 0) return [{ op, who, target: 'own' as const }]
    const isHarmless = op.method === 'GET' || expectedRefusal(op, who) !== undefined
    const targets = ["another tenant's", 'unknown', ...(isHarmless ? ['own'] : [])] as RoleCell['target'][]
    return targets.map((target) => ({ op, who, target }))
  })
}

export function thingsOf({ op, target }: RoleCell, own: Shelf, other: Shelf): Things {
  if (target === 'own') return own.things
  if (target === "another tenant's") return other.things
  return Object.fromEntries(paramNames(op).map((name) => [kindOfParam(op, name), randomId(kindOfParam(op, name))]))
}

/** The operator's calls and those without a credential reach every tenant. */
export const reachesAll = ({ caller }: Operation) => caller === 'operator' || caller === 'anyone'
