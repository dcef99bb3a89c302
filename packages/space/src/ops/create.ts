import { parseEmail } from '@atrium/identity/email'
import type { Member, PolicyRecord } from '@atrium/sealing/records'
import { makeRoom } from '../rooms/make-room.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { authorise, type Requester } from './authorise.ts'
import { identify } from './identify.ts'
import { roomKeyOf } from './open-room.ts'
import type { CreateRequest } from './request.ts'

/**
 * Creates a room. A room with a list belongs to the account that creates it. An open room belongs to the presented
 * account or proven device key, else to nobody.
 */
export async function create(ctx: SpaceContext, request: CreateRequest, caller: Caller) {
  const key = roomKeyOf(request)
  const policy = request.policy === 'email' ? await emailPolicy(ctx, request) : await openPolicy(ctx, request)
  const head = await makeRoom(ctx, { room: request.room, key, policy }, caller)
  if (typeof head === 'string')
    throw new SpaceError('room_exists', head === 'removed' ? 'a room of this name was removed' : 'room')
  return { ok: true, etag: head.etag, count: head.count }
}

const requireProof = ({ require_proof: required }: CreateRequest) => (required ? { require_proof: true as const } : {})
const titleOf = ({ title }: CreateRequest) => (title === undefined ? {} : { title })

async function emailPolicy(ctx: SpaceContext, request: CreateRequest): Promise<PolicyRecord> {
  if (!ctx.provider)
    throw new SpaceError('invalid_request', 'rooms with a list need an identity provider, and none is configured here')
  const at = new Date().toISOString()
  const { account } = await identify(ctx, { idToken: request.idToken, spk: request.spk }, () => 'listed')
  if (!account) throw agentsMakeNoRoom()
  const owner = { email: account.email }
  const draft: PolicyRecord = { t: 'policy', policy: 'email', owner, allow: membersOf(request.allow ?? [], at), at }
  const policy = {
    ...draft,
    ...(request.agents?.length ? { agents: [...new Set(request.agents)].map((id) => ({ id, admitted_at: at })) } : {}),
    ...titleOf(request),
    ...requireProof(request),
  }
  await authorise(ctx, request, policy)
  return policy
}

async function openPolicy(ctx: SpaceContext, request: CreateRequest): Promise<PolicyRecord> {
  if (request.allow?.length || request.agents?.length)
    throw new SpaceError('invalid_request', 'an open room has no list: allow and agents go with policy email')
  const requester = await authorise(ctx, request, { t: 'policy', policy: 'open', at: '', ...requireProof(request) })
  if (requester.agent) throw agentsMakeNoRoom()
  return {
    t: 'policy',
    policy: 'open',
    ...ownerOf(requester),
    ...titleOf(request),
    ...requireProof(request),
    at: new Date().toISOString(),
  }
}

/** The token is valid, but it is an agent's: an agent cannot own a room. */
function agentsMakeNoRoom(): SpaceError {
  return new SpaceError('not_authorized', 'token: bad_issuer')
}

/** The account, or the device that proved that it holds its key. A caller without either owns nothing. */
function ownerOf({ account, key, proven }: Requester): Pick<PolicyRecord, 'owner'> {
  if (account) return { owner: { email: account.email } }
  return key !== undefined && proven ? { owner: { key } } : {}
}

/** The addresses in the form in which they are compared, each once. */
export function addressesOf(emails: readonly string[]): string[] {
  return [...new Set(emails.map((email) => parseEmail(email) ?? refuse(email)))]
}

function refuse(email: string): never {
  throw new SpaceError('invalid_request', `${JSON.stringify(email.slice(0, 100))} is not an e-mail address`)
}

export function membersOf(emails: readonly string[], at: string): Member[] {
  return addressesOf(emails).map((email) => ({ email, admitted_at: at }))
}
