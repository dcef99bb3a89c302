import { type ClientKeys, deriveClientKeys, derivePolicyKey, sealClientLine, type Seen } from '@atrium/sealing/client-sealed'
import { sealPolicyLine } from '@atrium/sealing/policy-line'
import { lineHash } from '@atrium/sealing/web-lines'
import { type Invite, signPolicy } from '../device-policy.ts'
import { sha256Base64url } from '../identity.ts'
import { type NewList, sealList, sealRecord } from '../listed-lines.ts'
import type { TamperProblem } from '../tampered-room-error.ts'
import { exportPairs, generateDevicePairs, type RoomDevice, roomDeviceOf, signCard } from '../room-device.ts'
import { pageOf, restored, Store, swap } from './tampered-rooms.ts'

export const room = 'lantern'
/** By generation. */
export const mks = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'].map((name) => `${name}-b0hPz2S0cPq1f3m8Wq4e5r6t7`)

const ownerPairs = await generateDevicePairs(true)
const memberPairs = await generateDevicePairs(true)
export const owner = await roomDeviceOf(ownerPairs)
export const member = await roomDeviceOf(memberPairs)
/** The private keys, for a reader in another language. */
export const exported = { owner: await exportPairs(ownerPairs), member: await exportPairs(memberPairs) }
export const invited = await roomDeviceOf(await generateDevicePairs())
export const stranger = await roomDeviceOf(await generateDevicePairs())
/** The device with which the operator of the platform reads for an agent. */
export const runner = await roomDeviceOf(await generateDevicePairs())
/** Further invitations. */
export const guests = [await roomDeviceOf(await generateDevicePairs()), await roomDeviceOf(await generateDevicePairs())] as const
export const devices = [owner, member, invited, stranger, runner, ...guests]
export const [ownerKey, memberKey, invitedKey, strangerKey, runnerKey] = devices.map(({ signing }) => signing.thumbprint) as [
  string,
  string,
  string,
  string,
  string,
]
export const invite: Invite = { key: invitedKey, spk: invited.signing.spk, epk: invited.encryption, for: 'grace@example.org' }

type Change = Partial<NewList> & { by?: RoomDevice }

/** A room of an owner, who writes what the test says, honest or not. */
export class ListedStore extends Store {
  keys: ClientKeys | undefined
  list: NewList = { room, generation: 0, devices: [ownerKey], revoked: [], mk: mks[0]!, invites: [] }
  listHash: string | undefined

  /** Appends a list; `change` says how it differs from the one before. */
  async change({ by = owner, ...change }: Change = {}): Promise<void> {
    const list = { ...this.list, ...change }
    const place = { seen: await this.seen(), prev: this.listHash }
    const { line, keys } = await sealList({ ...place, ...list }, by, keyOf)
    await this.append(line)
    this.list = list
    this.keys = keys
    this.listHash = await lineHash(this.lines.at(-1)!)
  }

  async rekey(change: Change = {}): Promise<void> {
    const generation = this.list.generation + 1
    await this.change({ generation, mk: mks[generation]!, before: this.list.mk, ...change })
  }

  async write(record: object, more: { by?: RoomDevice; seen?: Seen; keys?: ClientKeys } = {}): Promise<void> {
    const seen = more.seen ?? (await this.seen())
    await this.append(await sealRecord(more.keys ?? this.keys!, { seen, record, device: more.by ?? owner }))
  }

  speak(id: string, by?: RoomDevice): Promise<void> {
    return this.write(turn(id), by && { by })
  }
}

export const keyOf = (kid: string) => devices.find(({ signing }) => signing.thumbprint === kid)!.encryption
const turn = (id: string) => ({ t: 'turn', id, at: '2026-11-23T09:30:00.000Z', text: `message ${id}` })
export const card = (of: RoomDevice, more: { room?: string } = {}) => signCard(of, more.room ?? room, 'Grace')

/** list, turn, invitation, answer, admission, turn by the member: the member is on the list, with no open invitation. */
export async function openListed(): Promise<ListedStore> {
  const store = new ListedStore()
  await store.change()
  await store.speak('m1')
  await store.change({ devices: [ownerKey, invitedKey], invites: [invite] })
  await store.write({ t: 'answer', card: await card(member) }, { by: invited })
  await store.rekey({ devices: [ownerKey, memberKey], invites: [] })
  await store.speak('m2', member)
  return store
}

/** The same after the key has changed, and a turn of both. */
export async function openRekeyed(change: Change = {}): Promise<ListedStore> {
  const store = await openListed()
  await store.rekey(change)
  await store.speak('m3')
  await store.speak('m4', member)
  return store
}

const honest = await openRekeyed()
const rekeyed = 6

export async function after(more: (store: ListedStore) => Promise<unknown>, base = openListed): Promise<object[]> {
  const store = await base()
  await more(store)
  return [await pageOf(store.lines)]
}

/** The lines of an honest room, of which one was changed before the service placed it. */
async function with_(seq: number, change: (line: string) => string): Promise<object[]> {
  return [await pageOf(await restored(honest.sealed.with(seq, change(honest.sealed[seq]!))))]
}

/** The last line with another policy in its header. */
function repolicied(line: string, change: (policy: string) => string): string {
  const parsed = JSON.parse(line) as { protected: string }
  const header = JSON.parse(Buffer.from(parsed.protected, 'base64url').toString()) as { enc: string; policy: string }
  const text = JSON.stringify({ enc: header.enc, policy: change(header.policy) })
  return JSON.stringify({ ...parsed, protected: Buffer.from(text).toString('base64url') })
}

function recipients(line: string, change: (list: { encrypted_key: string }[]) => object[]): string {
  const { protected: header, recipients: list, ...rest } = JSON.parse(line) as { protected: string; recipients: never[] }
  return JSON.stringify({ protected: header, recipients: change(list), ...rest })
}

const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
const hash = 'A'.repeat(43)

/** Each as the pages that the member gets, and what it must say. */
export const tamperedListedRooms: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'the signature of a list is altered': [
    'signature',
    () =>
      with_(rekeyed, (line) => repolicied(line, (jws) => [...jws.split('.').slice(0, 2), flipped(jws.split('.')[2]!)].join('.'))),
  ],
  'a list is signed with a key that is not the one of its owner': [
    'signature',
    () =>
      with_(rekeyed, (line) =>
        repolicied(line, (jws) => {
          const header = JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString()) as object
          const other = Buffer.from(JSON.stringify({ ...header, jwk: stranger.signing.spk })).toString('base64url')
          return [other, ...jws.split('.').slice(1)].join('.')
        }),
      ),
  ],
  'the room is of another owner': [
    'policy',
    async () => {
      const store = new ListedStore()
      await store.change({ by: stranger, devices: [strangerKey, memberKey] })
      return [await pageOf(store.lines)]
    },
  ],
  'the first line is a message': ['policy', async () => [await pageOf(await restored([honest.sealed[1]]))]],
  'a list of somebody else follows': [
    'policy',
    () => after((store) => store.change({ by: stranger, devices: [strangerKey, memberKey] })),
  ],
  'a list is of another room': ['policy', () => after((store) => store.change({ room: 'harbour' }))],
  'a list follows another one': ['policy', () => after((store) => store.change({ prev: hash }))],
  'an old list comes again': ['policy', async () => [await pageOf(await restored([...honest.sealed, honest.sealed[4]]))]],
  'a list skips a generation': ['policy', () => after((store) => store.rekey({ generation: 3 }))],
  'a list goes back to the generation before': [
    'policy',
    async () => after((store) => store.change({ generation: 1, mk: mks[1]! }), openRekeyed),
  ],
  'the generation changes and the key does not': ['policy', () => after((store) => store.rekey({ mk: mks[1]! }))],
  'the key changes and the generation does not': ['policy', () => after((store) => store.change({ mk: mks[2]! }))],
  'a device leaves the list and the key does not change': [
    'policy',
    () => after((store) => store.change({ devices: [ownerKey] })),
  ],
  'a list names a device twice': ['policy', () => after((store) => store.change({ devices: [ownerKey, memberKey, memberKey] }))],
  'a list names a removed device': ['policy', () => after((store) => store.change({ revoked: [memberKey] }))],
  'a recipient of a list is left out': [
    'recipients',
    () => with_(rekeyed, (line) => recipients(line, (list) => list.toSpliced(1, 1))),
  ],
  'a list has one more recipient': [
    'recipients',
    () => with_(rekeyed, (line) => recipients(line, (list) => [...list, list[0]!])),
  ],
  'two recipients are swapped': [
    'recipients',
    () => with_(rekeyed, (line) => recipients(line, ([one, two, three]) => [two!, one!, three!])),
  ],
  'the wrapped key of a recipient is altered': [
    'sealed',
    () =>
      with_(rekeyed, (line) =>
        recipients(line, (list) => list.map((one) => ({ ...one, encrypted_key: flipped(one.encrypted_key) }))),
      ),
  ],
  'the ciphertext of a list is altered': ['sealed', () => with_(rekeyed, (line) => swap(line, 'ciphertext'))],
  'a recipient has another spelling': ['form', () => with_(rekeyed, (line) => line.replace('"kid"', '"x":1,"kid"'))],
  'a list is no JWS': ['form', () => with_(rekeyed, (line) => repolicied(line, () => 'x'))],
  'an invitation is not on the list': ['record', () => after((store) => store.change({ invites: [invite] }))],
  'the room key of a list is not the one before': [
    'key',
    async () => [await pageOf((await openRekeyed({ before: mks[0]! })).lines)],
  ],
  'a list has another key than the one that the owner signed': [
    'key',
    () =>
      after(async (store) => {
        const seen = await store.seen()
        const content = JSON.stringify({ mk: mks[3], before: store.list.mk, owner: await card(owner), invites: [] })
        const { access } = await deriveClientKeys({ room, mk: mks[2]! })
        const list = {
          room,
          generation: 2,
          seen,
          prev: store.listHash,
          access,
          owner: ownerKey,
          devices: [ownerKey, memberKey],
          revoked: [],
        }
        const policy = await signPolicy({ ...list, content: await sha256Base64url(content) }, owner)
        const devices = list.devices.map((kid) => ({ kid, key: keyOf(kid) }))
        await store.append(
          await sealPolicyLine({ policy, content, policyKey: await derivePolicyKey({ room, mk: mks[2]! }), devices }),
        )
      }),
  ],
  'the list is left out with which the key changed': [
    'sealed',
    async () => [await pageOf(await restored(honest.sealed.toSpliced(rekeyed, 1)))],
  ],
  'a message is sealed with the key of an earlier generation': [
    'sealed',
    async () => {
      const store = await openListed()
      const { keys } = store
      await store.rekey()
      await store.write(turn('late'), { keys: keys! })
      return [await pageOf(store.lines)]
    },
  ],
  'a message is by a device that is not on the list': ['author', () => after((store) => store.speak('x', stranger))],
  'a message is by a device that was removed': [
    'author',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, strangerKey] })
        await store.rekey({ devices: [ownerKey, memberKey], revoked: [strangerKey] })
        await store.speak('x', stranger)
      }),
  ],
  'a message is by an invitation that was answered': ['author', () => after((store) => store.speak('x', invited))],
  'a device on the list has no card': [
    'author',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, strangerKey] })
        await store.speak('x', stranger)
      }),
  ],
  'a message is signed by another device': [
    'signature',
    () =>
      after((store) => store.write(turn('x'), { by: { ...owner, signing: { ...member.signing, sign: owner.signing.sign } } })),
  ],
  'a message is put into another place by a member': [
    'signature',
    () =>
      after(async (store) => {
        const { openStoredLine, parseStoredLine } = await import('@atrium/sealing/client-sealed')
        const { content } = await openStoredLine(store.keys!, parseStoredLine(store.lines.at(-1)!))
        await store.append(await sealClientLine(store.keys!, { seen: await store.seen(), content }))
      }),
  ],
  'an invitation writes a message': [
    'record',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
        await store.speak('x', invited)
      }),
  ],
  'an answer has a card for another room': [
    'record',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
        await store.write({ t: 'answer', card: await card(stranger, { room: 'harbour' }) }, { by: invited })
      }),
  ],
  'an answer has an ID token that is none': [
    'record',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
        const answer = { t: 'answer', card: await card(stranger), id_token: 7, at: '2026-11-23T09:30:00.000Z' }
        await store.write(answer, { by: invited })
      }),
  ],
  'an ID token has no time': ['record', () => after((store) => store.write({ t: 'identity', id_token: 'x.y.z' }))],
  'an ID token is empty': [
    'record',
    () => after((store) => store.write({ t: 'identity', id_token: '', at: '2026-11-23T09:30:00.000Z' })),
  ],
  'an invitation writes an ID token': [
    'record',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
        await store.write({ t: 'identity', id_token: 'x.y.z', at: '2026-11-23T09:30:00.000Z' }, { by: invited })
      }),
  ],
  'a list has the keys of no provider': [
    'record',
    () =>
      after((store) => store.change({ issuers: [{ issuer: 'https://id.example', keys: [{ kty: 'RSA', n: '+', e: 'AQAB' }] }] })),
  ],
  'a message is not signed': [
    'record',
    () =>
      after(async (store) => {
        const seen = await store.seen()
        await store.append(await sealClientLine(store.keys!, { seen, content: JSON.stringify(turn('x')) }))
      }),
  ],
  'a message comes twice': ['replay', () => after((store) => store.speak('m2', member))],
  'an author had seen another line': ['fork', () => after((store) => store.write(turn('x'), { seen: { seq: 2, hash } }))],
  'an author had seen a line that is not there yet': [
    'ahead',
    () => after((store) => store.write(turn('x'), { seen: { seq: 9, hash } })),
  ],
  'the owner had seen another line': ['fork', () => after((store) => store.change({ seen: { seq: 2, hash } }))],
  'a line is left out': ['number', async () => [await pageOf(honest.lines.toSpliced(3, 1))]],
  'a line is altered where it stands': [
    'chain',
    async () => [await pageOf(honest.lines.with(rekeyed, swap(honest.lines[rekeyed]!, 'ciphertext')))],
  ],
  'the last line is left out, and counted out': [
    'end',
    async () => [await pageOf(honest.lines.slice(0, -1), { etag: await lineHash(honest.lines.at(-1)!) })],
  ],
}
