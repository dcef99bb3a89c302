import type { TamperProblem } from '../tampered-room-error.ts'
import { agreeing } from './contested-devices.ts'
import {
  after,
  card,
  invite,
  invited,
  invitedKey,
  type ListedStore,
  member,
  memberKey,
  openListed,
  ownerKey,
  stranger,
  strangerKey,
} from './tampered-listed-rooms.ts'

/** The member names a second device, and the owner lets it in, with the same key. */
export async function openWithSecondDevice(): Promise<ListedStore> {
  const store = await openListed()
  await store.write({ t: 'vouch', card: await card(stranger) }, { by: member })
  await store.change({ devices: [ownerKey, memberKey, strangerKey] })
  await store.speak('m3', stranger)
  return store
}

/** As in tampered-listed-rooms.ts. */
export const tamperedSecondDevices: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'a device that was named writes before the owner has let it in': [
    'author',
    () =>
      after(async (store) => {
        await store.write({ t: 'vouch', card: await card(stranger) }, { by: member })
        await store.speak('m3', stranger)
      }),
  ],
  'a device that nobody has named is on the list and writes': [
    'author',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, strangerKey] })
        await store.speak('m3', stranger)
      }),
  ],
  'a device is named by the card of another room': [
    'record',
    () => after(async (store) => store.write({ t: 'vouch', card: await card(stranger, { room: 'harbour' }) }, { by: member })),
  ],
  'a device is named by no card': [
    'record',
    () => after((store) => store.write({ t: 'vouch', card: strangerKey }, { by: member })),
  ],
  'a device is named by a card that names another member than the device has signed': [
    'record',
    () =>
      after(async (store) => {
        const [head = '', payload = '', signature = ''] = (await agreeing(ownerKey)).split('.')
        const signed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
        const changed = Buffer.from(JSON.stringify({ ...signed, member: memberKey })).toString('base64url')
        await store.write({ t: 'vouch', card: `${head}.${changed}.${signature}` }, { by: member })
      }),
  ],
  'a device is named by a card that the member has signed in its place': [
    'record',
    () =>
      after(async (store) => {
        const forger = { ...stranger, signing: { ...stranger.signing, sign: member.signing.sign } }
        await store.write({ t: 'vouch', card: await agreeing(memberKey, forger) }, { by: member })
      }),
  ],
  'a device that has agreed to a member writes before anybody has named it': [
    'author',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, strangerKey] })
        await store.write({ t: 'vouch', card: await agreeing(memberKey) }, { by: stranger })
      }),
  ],
  'an invitation names a device': [
    'record',
    () =>
      after(async (store) => {
        await store.change({ devices: [ownerKey, memberKey, invitedKey], invites: [invite] })
        await store.write({ t: 'vouch', card: await card(stranger) }, { by: invited })
      }),
  ],
  'somebody else has signed that a device is named': [
    'author',
    () => after(async (store) => store.write({ t: 'vouch', card: await card(stranger) }, { by: stranger })),
  ],
}
