import { derivePolicyKey, openStoredLine, parseStoredLine, sealClientLine } from '@atrium/sealing/client-sealed'
import { sealPolicyLine } from '@atrium/sealing/policy-line'
import { signJws } from '../device-jws.ts'
import { signPolicy } from '../device-policy.ts'
import { sha256Base64url } from '../identity.ts'
import { signCard } from '../room-device.ts'
import type { TamperProblem } from '../tampered-room-error.ts'
import {
  after,
  card,
  invite,
  invited,
  invitedKey,
  keyOf,
  type ListedStore,
  member,
  memberKey,
  openListed,
  owner,
  ownerKey,
  room,
  stranger,
} from './tampered-listed-rooms.ts'
import { pageOf, restored } from './tampered-rooms.ts'

const hash = 'A'.repeat(43)
const turn = { t: 'turn', id: 'deep', at: '2026-11-23T09:30:00.000Z', text: 'x' }
const nested = (deep: number): object => JSON.parse('['.repeat(deep) + ']'.repeat(deep)) as object
/** The same bytes in another spelling: the last character has bits that no byte has. */
const stray = `${hash.slice(0, 42)}B`

async function respelled(change: (line: string) => string): Promise<object[]> {
  const { sealed } = await openListed()
  return [await pageOf(await restored(sealed.with(5, change(sealed[5]!))))]
}

/** The newest list, with these recipients in place of its own. Nobody has signed them. */
async function resealed(change: (recipients: { header: { kid: unknown } }[]) => object[]): Promise<object[]> {
  const { sealed } = await openListed()
  const { protected: header, recipients, ...rest } = JSON.parse(sealed[4]!) as { protected: string; recipients: never[] }
  const line = JSON.stringify({ protected: header, recipients: change(recipients), ...rest })
  return [await pageOf(await restored([...sealed.slice(0, 4), line]))]
}

/** The last message, with another text around what its author has signed. */
async function reworded(change: (jws: string) => string): Promise<object[]> {
  const store = await openListed()
  const { seen, content } = await openStoredLine(store.keys!, parseStoredLine(store.lines[5]!))
  const line = await sealClientLine(store.keys!, { seen, content: change(content) })
  return [await pageOf(await restored(store.sealed.with(5, line)))]
}

async function answering(card: () => Promise<string>): Promise<object[]> {
  return after(async (store) => {
    await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
    await store.write({ t: 'answer', card: await card() }, { by: invited })
  })
}

/** A list as the owner signs it, with other members. */
async function listWith(store: ListedStore, more: object, inside: object = {}): Promise<void> {
  const { mk, before } = store.list
  const content = JSON.stringify({ mk, before, owner: await card(owner), invites: [], ...inside })
  const list = {
    room,
    generation: 1,
    seen: await store.seen(),
    prev: store.listHash,
    access: store.keys!.access,
    owner: ownerKey,
    devices: [ownerKey, memberKey],
    revoked: [],
    content: await sha256Base64url(content),
  }
  const devices = list.devices.map((kid) => ({ kid, key: keyOf(kid) }))
  const policy = await signPolicy({ ...list, ...more }, owner)
  await store.append(await sealPolicyLine({ policy, content, policyKey: await derivePolicyKey({ room, mk }), devices }))
}

/** What has another spelling, or names in the wrong list. As in tampered-listed-rooms.ts. */
export const tamperedSpellings: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'the tag of a line has a stray bit': ['form', () => respelled((line) => line.replace(/"tag":"(.{21})./, '"tag":"$1B'))],
  'the header of a line has a length that no bytes have': [
    'form',
    () =>
      respelled((line) =>
        line.replace(
          /"protected":"(.*?)"/,
          (_, head: string) => `"protected":"${head.padEnd(4 * Math.ceil(head.length / 4) + 1, 'A')}"`,
        ),
      ),
  ],
  'the name of a device that was removed has a stray bit': ['policy', () => after((store) => store.change({ revoked: [stray] }))],
  'a device that was removed is named twice': ['policy', () => after((store) => store.change({ revoked: [hash, hash] }))],
  'a member writes a recipient that is nested as deep as a line allows': [
    'form',
    async () => {
      const { sealed } = await openListed()
      const line = sealed[4]!.replace(/"kid":"room"/, `"kid":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)
      return [await pageOf(await restored([...sealed, line]))]
    },
  ],
  'the name of a recipient is in a list': [
    'form',
    () => resealed((list) => list.map((one) => ({ ...one, header: { ...one.header, kid: [one.header.kid] } }))),
  ],
  'two recipients are one, named with a comma': [
    'form',
    () =>
      resealed(([first, second, last]) => {
        return [{ ...first, header: { ...first!.header, kid: `${first!.header.kid},${second!.header.kid}` } }, last!]
      }),
  ],
  'a list has null for what its owner had seen': ['policy', () => after((store) => listWith(store, { seen: null }))],
  'a list has null for the list before': ['policy', () => after((store) => listWith(store, { prev: null }))],
  'a list has no card of its owner': ['record', () => after((store) => listWith(store, {}, { owner: 'x' }))],
  'a list is nested 65 deep': ['policy', () => after((store) => listWith(store, { x: nested(64) }))],
  'what is sealed in a list is nested 65 deep': ['record', () => after((store) => listWith(store, {}, { x: nested(64) }))],
  'a card is nested thousands deep': ['record', () => answering(() => signCard(stranger, room, 'Grace', nested(2_500) as never))],
  'a message is nested 65 deep': ['record', () => after((store) => store.write({ ...turn, x: nested(64) }))],
  'a byte order mark is before a message': ['record', () => reworded((jws) => `\ufeff${jws}`)],
  'a message ends in something else than spaces': ['record', () => reworded((jws) => `${jws}\n`)],
  'the key of a card has a stray bit': [
    'record',
    () =>
      answering(() => {
        const { signing, encryption } = stranger
        const values = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
        const y = encryption.y.slice(0, 42) + values[values.indexOf(encryption.y[42]!) + 1]
        return signJws({ typ: 'atrium-device+jws' }, { room, spk: signing.spk, epk: { ...encryption, y } }, signing.sign)
      }),
  ],
  'the name on a card is too long': [
    'record',
    () =>
      answering(() => {
        const { signing, encryption } = stranger
        const payload = { room, spk: signing.spk, epk: encryption, name: '😀'.repeat(81) }
        return signJws({ typ: 'atrium-device+jws' }, payload, signing.sign)
      }),
  ],
  'a device is on the list and removed': [
    'policy',
    () => after((store) => store.change({ devices: [ownerKey, memberKey], revoked: [memberKey] })),
  ],
}

/** A list, a card and a message with members that mean nothing, nested as deep as they may be. */
export async function openAsDeepAsAllowed(): Promise<object[]> {
  return after(async (store) => {
    await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Grace', nested(63) as never) }, { by: member })
    await store.write({ ...turn, x: nested(63) })
    await listWith(store, { x: nested(63) }, { x: nested(63) })
  })
}

/** An honest answer, by a device whose name is as long as it may be. */
export async function openWithLongName(): Promise<object[]> {
  return answering(() => signCard(stranger, room, '😀'.repeat(80)))
}

/** An honest list, which names a device as removed that was never on it. */
export async function openWithUnknownRevoked(): Promise<object[]> {
  return after((store) => store.change({ revoked: [hash] }))
}
