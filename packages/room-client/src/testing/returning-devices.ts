import { signCard } from '../room-device.ts'
import {
  type Contested,
  first,
  inviteAs,
  letIn,
  ofMallory,
  ofMember,
  openWithMallory,
  second,
  vouching,
} from './contested-devices.ts'
import { hostedAgent } from './tampered-hosted-rooms.ts'
import {
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

const onlyMember = [ownerKey, memberKey]

/** The device answers another invitation. With `by`, its card is one that was made for that. */
async function returnAs(store: ListedStore, who: string, by?: string): Promise<void> {
  await inviteAs(store, second, who)
  await store.write({ t: 'answer', card: await signCard(stranger, room, undefined, by) }, { by: second })
}

/** The owner lets in the device that has answered, and it writes. */
async function admit(store: ListedStore): Promise<ListedStore> {
  const devices = [...store.list.devices.filter((key) => key !== second.signing.thumbprint), strangerKey]
  await store.rekey({ devices, revoked: store.list.revoked.filter((key) => key !== strangerKey), invites: [] })
  await store.speak('m10', stranger)
  return store
}

/** Mallory has named a device that agreed to it, and was removed. */
async function openAfterNamer(letInBefore = false): Promise<ListedStore> {
  const store = await openWithMallory()
  await store.write(await vouching(malloryKey), { by: mallory })
  if (letInBefore) await letIn(store)
  await store.rekey({ devices: onlyMember, revoked: letInBefore ? [malloryKey, strangerKey] : [malloryKey] })
  return store
}

/** A device that had answered an invitation was removed. */
async function openAfterGuest(): Promise<ListedStore> {
  const store = await openListed()
  await inviteAs(store, first, 'hopper@example.org')
  await store.write({ t: 'answer', card: await signCard(stranger, room, undefined, first.signing.thumbprint) }, { by: first })
  await store.rekey({ devices: [...onlyMember, strangerKey], invites: [] })
  await store.speak('m9', stranger)
  await store.rekey({ devices: onlyMember, revoked: [strangerKey] })
  return store
}

/** The member has named a second device, which was let in and removed, and is in `revoked` no more. */
async function openAfterSecond(revoked: readonly string[] = []): Promise<ListedStore> {
  const store = await openListed()
  await store.write(await vouching(memberKey), { by: member })
  await letIn(store)
  await store.rekey({ devices: onlyMember, revoked: [...revoked] })
  return store
}

/** As in contested-devices.ts: rooms in which the device, or its namer, was removed. */
export const returningDevices: Record<string, Contested> = {
  'the namer was removed, and the device answers an invitation by a card of an earlier release': {
    open: async () => {
      const store = await openAfterNamer()
      await returnAs(store, 'hopper@example.org')
      return admit(store)
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'the namer was removed, and the device answers an invitation by a card for it': {
    open: async () => {
      const store = await openAfterNamer(true)
      await returnAs(store, 'hopper@example.org', second.signing.thumbprint)
      return admit(store)
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'the namer was removed with the device, and somebody answers an invitation with its old card': {
    open: async () => {
      const store = await openAfterNamer(true)
      await returnAs(store, 'eve@example.org', malloryKey)
      return store
    },
    shown: ofMallory,
    offered: 0,
  },
  'the namer is on the list, and the device answers an invitation': {
    open: async () => {
      const store = await openWithMallory()
      await store.write(await vouching(malloryKey), { by: mallory })
      await returnAs(store, 'hopper@example.org', second.signing.thumbprint)
      return admit(store)
    },
    shown: ofMallory,
    offered: 0,
  },
  'a device that was removed answers another invitation by a card for it': {
    open: async () => {
      const store = await openAfterGuest()
      await returnAs(store, 'grace.hopper@example.org', second.signing.thumbprint)
      return admit(store)
    },
    shown: { invited: 'grace.hopper@example.org' },
    offered: 0,
  },
  'somebody answers an invitation with the card of a device that was removed': {
    open: async () => {
      const store = await openAfterGuest()
      await returnAs(store, 'eve@example.org', first.signing.thumbprint)
      return store
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'somebody answers an invitation with a device on the list': {
    open: async () => {
      const store = await openListed()
      await store.write(await vouching(memberKey), { by: member })
      await letIn(store)
      await returnAs(store, 'eve@example.org', second.signing.thumbprint)
      return store
    },
    shown: ofMember,
    offered: 0,
  },
  'a second device was removed, and answers an invitation while its namer is on the list': {
    open: async () => {
      const store = await openAfterSecond([strangerKey])
      await returnAs(store, 'hopper@example.org', second.signing.thumbprint)
      return admit(store)
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'a device that is known answers an invitation, and the next list names it as that of a hosted agent': {
    open: async () => {
      const store = await openListed()
      await store.write({ t: 'vouch', card: await signCard(stranger, room, undefined) }, { by: member })
      await returnAs(store, 'hopper@example.org', second.signing.thumbprint)
      const agent = { agent: hostedAgent, device: strangerKey, card: await signCard(stranger, room, 'Lamplighter') }
      await store.change({ devices: [...store.list.devices, strangerKey], hosted: [agent] })
      await store.speak('m9', stranger)
      return store
    },
    shown: { invited: 'hopper@example.org' },
    offered: 0,
  },
  'a second device was removed, and the list says so no more': {
    open: () => openAfterSecond(),
    shown: ofMember,
    offered: 0,
  },
  'a second device was removed, the list says so no more, and its member names it again': {
    open: async () => {
      const store = await openAfterSecond()
      await store.write(await vouching(memberKey), { by: member })
      return store
    },
    shown: ofMember,
    offered: 1,
  },
  'a second device was removed, and its member names it again': {
    open: async () => {
      const store = await openAfterSecond([strangerKey])
      await store.write(await vouching(memberKey), { by: member })
      return store
    },
    shown: ofMember,
    offered: 0,
  },
}
