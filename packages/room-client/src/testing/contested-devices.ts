import { generateDevicePairs, roomDeviceOf, signCard } from '../room-device.ts'
import type { Invite } from '../device-policy.ts'
import {
  guests,
  type ListedStore,
  member,
  memberKey,
  openListed,
  ownerKey,
  room,
  runner as mallory,
  runnerKey as malloryKey,
  stranger,
  strangerKey,
} from './tampered-listed-rooms.ts'

/** The card of a device that agrees to be a second device of `first`. */
export const agreeing = (first: string, device = stranger) => signCard(device, room, 'Telephone', first)
export const vouching = async (first: string, device = stranger) => ({ t: 'vouch', card: await agreeing(first, device) })

export const [first, second] = guests
const inviteOf = ({ signing, encryption }: typeof first, who: string): Invite => {
  return { key: signing.thumbprint, spk: signing.spk, epk: encryption, for: who }
}

/** The member and one more, Mallory, who claims what belongs to the member. */
export async function openWithMallory(): Promise<ListedStore> {
  const store = await openListed()
  await inviteAs(store, first, 'mallory@example.org')
  await store.write({ t: 'answer', card: await signCard(mallory, room, 'Mallory') }, { by: first })
  await store.rekey({ devices: [ownerKey, memberKey, malloryKey], invites: [] })
  return store
}

export function inviteAs(store: ListedStore, guest: typeof first, who: string): Promise<void> {
  const invite = inviteOf(guest, who)
  return store.change({ devices: [...store.list.devices, invite.key], invites: [invite] })
}

export async function letIn(store: ListedStore): Promise<ListedStore> {
  await store.change({ devices: [...store.list.devices, strangerKey] })
  await store.speak('m9', stranger)
  return store
}

export interface Contested {
  open: () => Promise<ListedStore>
  /** Who has named the device of the last message, and whom the owner had invited. */
  shown?: { named_by?: string; invited: string }
  /** How many second devices the owner may let in at the end. */
  offered: number
}

export const ofMember = { named_by: memberKey, invited: 'grace@example.org' }
export const ofMallory = { named_by: malloryKey, invited: 'mallory@example.org' }
const idToken = { id_token: 'x.y.z', at: '2026-11-24T09:30:00.000Z' }

/** Rooms that every reader accepts, in which somebody claims a device. `stranger` is the device in question. */
export const contestedDevices: Record<string, Contested> = {
  'somebody else claims the device first, with the card that is for the member': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(memberKey), { by: mallory })
      await store.write(await vouching(memberKey), { by: member })
      return letIn(store)
    },
    shown: ofMember,
    offered: 0,
  },
  'somebody else claims the device, and the member has not named it': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(memberKey), { by: mallory })
      return store
    },
    offered: 0,
  },
  'a card of an earlier release, without a member, is a claim': {
    open: async () => {
      const store = await openWithMallory()
      await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Telephone') }, { by: mallory })
      return store
    },
    offered: 0,
  },
  'an owner of an earlier release has let in a device that was claimed': {
    open: async () => {
      const store = await openWithMallory()
      await store.write({ t: 'vouch', card: await signCard(stranger, room, 'Telephone') }, { by: mallory })
      await letIn(store)
      // Its owner has decided: nobody takes it over.
      await store.write(await vouching(memberKey), { by: member })
      await store.speak('m10', stranger)
      return store
    },
    shown: ofMallory,
    offered: 0,
  },
  'somebody else claims the device, which then answers an invitation': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(memberKey), { by: mallory })
      await inviteAs(store, second, 'hopper@example.org')
      await store.write({ t: 'answer', card: await signCard(stranger, room, undefined) }, { by: second })
      await store.rekey({ devices: [ownerKey, memberKey, malloryKey, strangerKey], invites: [] })
      await store.speak('m9', stranger)
      return store
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'somebody answers an invitation with the card and a token of its own, before the member names the device': {
    open: async () => {
      const store = await openWithMallory()
      await inviteAs(store, second, 'eve@example.org')
      await store.write({ t: 'answer', card: await agreeing(memberKey), ...idToken }, { by: second })
      await store.write(await vouching(memberKey), { by: member })
      return letIn(store)
    },
    shown: ofMember,
    offered: 0,
  },
  'the device has agreed twice, and the first one counts': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(memberKey), { by: member })
      await store.write(await vouching(malloryKey), { by: mallory })
      return letIn(store)
    },
    shown: ofMember,
    offered: 0,
  },
  'the device has answered an invitation, and somebody else claims it': {
    open: async () => {
      const store = await openWithMallory()
      await inviteAs(store, second, 'hopper@example.org')
      await store.write({ t: 'answer', card: await signCard(stranger, room, undefined) }, { by: second })
      await store.write(await vouching(memberKey), { by: mallory })
      await store.rekey({ devices: [ownerKey, memberKey, malloryKey, strangerKey], invites: [] })
      await store.speak('m9', stranger)
      return store
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'the device has agreed twice, and the first member was removed': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(malloryKey), { by: mallory })
      await store.rekey({ devices: [ownerKey, memberKey], revoked: [malloryKey] })
      await store.write(await vouching(memberKey), { by: member })
      return letIn(store)
    },
    shown: ofMember,
    offered: 0,
  },
  'a member names six devices': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(memberKey), { by: member })
      for (let n = 0; n < 6; n++)
        await store.write(await vouching(malloryKey, await roomDeviceOf(await generateDevicePairs())), { by: mallory })
      return store
    },
    offered: 6,
  },
}
