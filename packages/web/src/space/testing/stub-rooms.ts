import { createHash, type KeyObject, randomBytes } from 'node:crypto'
import { admit } from '@atrium/identity/admit'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { isProof } from '@atrium/identity/proof'
import { lineHash, openLine, sealLine } from '@atrium/sealing/node-lines'
import { proofContent } from '@atrium/sealing/proof'
import {
  type AdmittedAgent,
  type Author,
  formatRecord,
  type Member,
  type Owner,
  parseRecord,
  type PolicyRecord,
  type TurnRecord,
} from '@atrium/sealing/records'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { WrongKey } from '@atrium/sealing/wrong-key'

/** What is not accepted: status, error, reason. */
export class Rejected extends Error {
  readonly status: number
  readonly body: { error: string; reason: string }

  constructor(status: number, error: string, reason: string) {
    super(reason)
    this.status = status
    this.body = { error, reason }
  }
}

interface Room {
  lines: string[]
  etag: string
  listeners: Set<() => void>
}

export interface Fields {
  op: string
  room: string
  mk: string
  [name: string]: any
}

interface Provider {
  issuer: string
  clientId: string
  publicKey: KeyObject
}

/** Rooms in memory for tests of the app, sealed like real ones, with the contract's order of checks. */
export class StubRooms {
  readonly rooms = new Map<string, Room>()
  readonly #provider: Provider
  readonly #policySeqs = new WeakMap<Room, number>()

  constructor(provider: Provider) {
    this.#provider = provider
  }

  async create(fields: Fields) {
    if (this.rooms.has(fields.room)) throw new Rejected(409, 'room_exists', 'room')
    const key = deriveRoomKey(fields)
    const at = now()
    const who = await this.#who(fields, () => 'listed')
    if (fields.policy === 'email' && who?.kind !== 'account') throw new Rejected(403, 'not_authorized', 'unsigned')
    const owner: Owner | undefined =
      who?.kind === 'account' ? { email: who.email } : who?.key !== undefined ? { key: who.key } : undefined
    const allow = (fields['allow'] as string[] | undefined)?.map((email) => ({ email, admitted_at: at }))
    const policy: PolicyRecord = {
      t: 'policy',
      policy: fields['policy'],
      ...(owner && { owner }),
      ...(fields['policy'] === 'email' && { allow: allow ?? [] }),
      ...(fields['title'] !== undefined && { title: fields['title'] }),
      at,
    }
    const room: Room = { lines: [], etag: '', listeners: new Set() }
    this.#append(room, key, policy)
    this.rooms.set(fields.room, room)
    return { ok: true, etag: room.etag, count: 1 }
  }

  async poll(fields: Fields, closed: AbortSignal) {
    const { sinceCount = 0, waitMs = 0, limit = 500 } = fields
    let { room, key, policy, who } = await this.#enter(fields)
    if (room.lines.length <= sinceCount && waitMs > 0) {
      await waitForNews(room, waitMs, closed)
      ;({ room, key, policy, who } = await this.#enter(fields))
    }
    const entries = []
    const end = Math.min(sinceCount + limit, room.lines.length)
    for (let seq = sinceCount as number; seq < end; seq++) {
      const record = open(key, room.lines[seq]!)
      if (record.t !== 'turn') continue
      const { id, at, author, message } = record
      const own = who?.key !== undefined && who.key === author.key
      entries.push({ seq, id, at, author, message: own ? message : { ...message, client_id: undefined } })
    }
    return {
      etag: end === room.lines.length ? room.etag : lineHash(room.lines[end - 1]!),
      count: end,
      entries,
      policy: policy.policy,
      ...(policy.title !== undefined && { title: policy.title }),
    }
  }

  /** Bypasses all checks, for messages that the app cannot write. */
  add(secret: { room: string; mk: string }, record: TurnRecord): void {
    this.#append(this.#get(secret.room), deriveRoomKey(secret), record)
  }

  /** Whether an agent would be let in. */
  agentStatus(secret: { room: string; mk: string }, agentId: string): 'listed' | 'revoked' | 'absent' {
    const room = this.rooms.get(secret.room)
    const policy = room && (open(deriveRoomKey(secret), room.lines[this.#policySeqs.get(room) ?? 0]!) as PolicyRecord)
    if (policy?.policy !== 'email') return 'listed'
    const listed = policy.agents?.find(({ id }) => id === agentId)
    return !listed ? 'absent' : listed.revoked_at === undefined ? 'listed' : 'revoked'
  }

  async turn(fields: Fields) {
    const { room, key, who } = await this.#enter(fields)
    const { text, reply_to, client_id } = fields['message'] as TurnRecord['message']
    if (Buffer.byteLength(text) > 16_384) throw new Rejected(400, 'invalid_request', '/message/text')
    const claimed = who?.kind !== 'account' && fields['name'] !== undefined ? { name: fields['name'] as string } : {}
    const by: Author = { ...(who ?? { kind: 'anonymous' }), ...claimed }
    const seen = client_id !== undefined && this.#find(room, key, by, client_id)
    if (seen)
      return { ok: true, seq: seen.seq, id: seen.record.id, at: seen.record.at, etag: room.etag, count: room.lines.length }
    const record: TurnRecord = {
      t: 'turn',
      id: randomBytes(16).toString('base64url'),
      at: now(),
      author: by,
      message: { text, ...(reply_to !== undefined && { reply_to }), ...(client_id !== undefined && { client_id }) },
    }
    this.#append(room, key, record)
    return { ok: true, seq: room.lines.length - 1, id: record.id, at: record.at, etag: room.etag, count: room.lines.length }
  }

  sealed({ room: name }: Fields) {
    const sealed = this.#get(name).lines.join('\n')
    const bytes = Buffer.from(sealed)
    return {
      alg: 'A256GCM',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      recipients: ['room'],
      sealed,
    }
  }

  async changeList(fields: Fields) {
    const { room, key, policy } = await this.#enterAsOwner(fields)
    const at = now()
    const change = <One extends Member | AdmittedAgent>(
      list: readonly One[],
      names: string[] = [],
      make: (name: string) => One,
    ) => {
      const changed = names.map(make).map((one, i) => {
        const before = list.find((other) => nameOf(other) === names[i])
        return fields.op === 'admit' ? one : { ...one, admitted_at: before?.admitted_at ?? at, revoked_at: at }
      })
      return [...list.filter((one) => !names.includes(nameOf(one))), ...changed]
    }
    const allow = change(policy.allow ?? [], fields['emails'], (email) => ({ email, admitted_at: at }))
    const agents = change(policy.agents ?? [], fields['agents'], (id) => ({ id, admitted_at: at }))
    this.#append(room, key, { ...policy, allow, ...(agents.length > 0 && { agents }), at })
    return { ok: true, etag: room.etag, count: room.lines.length }
  }

  async rename(fields: Fields) {
    const { room, key, policy } = await this.#enterAsOwner(fields)
    this.#append(room, key, { ...policy, title: fields['title'], at: now() })
    return { ok: true, etag: room.etag, count: room.lines.length }
  }

  async remove(fields: Fields) {
    const { room } = await this.#enterAsOwner(fields)
    this.rooms.delete(fields.room)
    for (const wake of room.listeners) wake()
    return { ok: true }
  }

  async #enterAsOwner(fields: Fields) {
    const entered = await this.#enter(fields)
    const { owner } = entered.policy
    const { who } = entered
    const isOwner =
      owner && ('email' in owner ? who?.kind === 'account' && who.email === owner.email : who?.key === owner.key && who.proven)
    if (!isOwner) throw new Rejected(403, 'not_authorized', 'not_owner')
    return entered
  }

  async #enter(fields: Fields) {
    const room = this.#get(fields.room)
    const key = deriveRoomKey(fields)
    let policy: PolicyRecord
    try {
      policy = open(key, room.lines[this.#policySeqs.get(room) ?? 0]!) as PolicyRecord
    } catch (error) {
      if (error instanceof WrongKey) throw new Rejected(403, 'not_authorized', 'bad_room_key')
      throw error
    }
    const who = await this.#who(fields, (email) => {
      const member = policy.allow?.find((one) => one.email === email)
      if (policy.policy === 'open') return 'listed'
      return !member ? 'absent' : member.revoked_at === undefined ? 'listed' : 'revoked'
    })
    if (policy.policy === 'email' && who?.kind !== 'account') throw new Rejected(403, 'not_authorized', 'unsigned')
    return { room, key, policy, who }
  }

  async #who(fields: Fields, status: (email: string) => 'listed' | 'revoked' | 'absent'): Promise<Author | undefined> {
    const { idToken, spk } = fields
    if (spk === undefined) return undefined
    const device = parseDeviceKey(spk)
    if (!device) throw new Rejected(400, 'invalid_request', 'spk')
    const proven = fields['proof'] !== undefined && this.#isProven(fields, device.publicKey)
    if (fields['proof'] !== undefined && !proven) throw new Rejected(403, 'not_authorized', 'unproven')
    const { thumbprint: key } = device
    if (idToken === undefined) return { kind: 'anonymous', key, ...(proven && { proven }) }
    const { issuer, clientId, publicKey } = this.#provider
    const admission = await admit(
      { idToken, spk },
      { issuer, audience: clientId, nowMs: Date.now(), keys: { find: () => Promise.resolve(publicKey) } },
      ({ email }) => Promise.resolve(status(email)),
    )
    if (!admission.ok) throw new Rejected(403, 'not_authorized', admission.reason)
    const { email, name } = admission.principal
    return { kind: 'account', email, ...(name !== undefined && { name }), key, ...(proven && { proven }) }
  }

  #isProven(fields: Fields, publicKey: KeyObject): boolean {
    const { op, room, proof } = fields
    const sha256 = createHash('sha256').update(proofContent(fields)).digest('hex')
    return isProof(proof, { publicKey, op, room, sha256, nowMs: Date.now() })
  }

  #find(room: Room, key: KeyObject, by: Author, clientId: string) {
    for (const [seq, line] of room.lines.entries()) {
      const record = open(key, line)
      const isSame = record.t === 'turn' && record.message.client_id === clientId && record.author.key === by.key
      if (isSame) return { seq, record }
    }
    return undefined
  }

  #get(name: string): Room {
    const room = this.rooms.get(name)
    if (!room) throw new Rejected(404, 'not_found', 'room')
    return room
  }

  #append(room: Room, key: KeyObject, record: PolicyRecord | TurnRecord): void {
    const seq = room.lines.length
    const line = sealLine({ key, seq, prev: seq === 0 ? undefined : room.etag, payload: formatRecord(record) })
    room.lines.push(line)
    room.etag = lineHash(line)
    if (record.t === 'policy') this.#policySeqs.set(room, seq)
    for (const wake of room.listeners) wake()
  }
}

function open(key: KeyObject, line: string) {
  return parseRecord(openLine({ key, line }).payload)
}

function nameOf(member: Member | AdmittedAgent): string {
  return 'email' in member ? member.email : member.id
}

function now(): string {
  return new Date().toISOString()
}

function waitForNews(room: Room, waitMs: number, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      room.listeners.delete(done)
      resolve()
    }
    const timer = setTimeout(done, waitMs)
    room.listeners.add(done)
    closed.addEventListener('abort', done)
  })
}
