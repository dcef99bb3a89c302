import { deriveClientKeys, derivePolicyKey } from '@atrium/sealing/client-sealed'
import { sealPolicyLine } from '@atrium/sealing/policy-line'
import { signJws } from '../device-jws.ts'
import type { HostedAgent } from '../hosted-agents.ts'
import { sha256Base64url } from '../identity.ts'
import type { TamperProblem } from '../tampered-room-error.ts'
import { signCard } from '../room-device.ts'
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
  runner,
  runnerKey,
  stranger,
  strangerKey,
} from './tampered-listed-rooms.ts'
import { pageOf } from './tampered-rooms.ts'

export const hostedAgent = 'agt_4fRzK0vXcB1mQwErTy7uPa'
const hosted: HostedAgent = { agent: hostedAgent, device: runnerKey, card: await signCard(runner, room, 'Lamplighter') }

/** The same with a hosted agent, which writes. */
export async function openHosted(more: Partial<HostedAgent> = {}): Promise<ListedStore> {
  const store = await openListed()
  await store.change({ devices: [ownerKey, memberKey, runnerKey], hosted: [{ ...hosted, ...more }] })
  await store.speak('h1', runner)
  return store
}

/** The agent has left with a change of the key, and both go on. */
export async function openAfterHosted(): Promise<ListedStore> {
  const store = await openHosted()
  await store.rekey({ devices: [ownerKey, memberKey], revoked: [runnerKey], hosted: [] })
  await store.speak('h2', member)
  return store
}

/** The owner consents to another agent, which writes and leaves. */
export async function openTwoStays(): Promise<ListedStore> {
  const store = await openAfterHosted()
  const agent = { agent: 'agt_second', device: strangerKey, card: await signCard(stranger, room, 'Storyteller') }
  await store.change({ devices: [...store.list.devices, strangerKey], hosted: [agent] })
  await store.speak('h3', stranger)
  await store.speak('h4', member)
  await store.rekey({ devices: [ownerKey, memberKey], revoked: [runnerKey, strangerKey], hosted: [] })
  await store.speak('h5')
  return store
}

/** A list that names hosted agents under another `typ`, or one that names none. */
async function retyped(store: ListedStore, typ: string, payload: object): Promise<void> {
  const { mk, before } = store.list
  const content = JSON.stringify({ mk, before, owner: await card(owner), invites: [] })
  const { access } = await deriveClientKeys({ room, mk })
  const list = {
    room,
    generation: store.list.generation,
    seen: await store.seen(),
    prev: store.listHash,
    access,
    owner: ownerKey,
    devices: [ownerKey, memberKey, runnerKey],
    revoked: [],
    content: await sha256Base64url(content),
    ...payload,
  }
  const policy = await signJws({ typ, jwk: owner.signing.spk }, list, owner.signing.sign)
  const recipients = list.devices.map((kid) => ({ kid, key: keyOf(kid) }))
  await store.append(
    await sealPolicyLine({ policy, content, policyKey: await derivePolicyKey({ room, mk }), devices: recipients }),
  )
}

const hostedTypes = { plain: 'atrium-policy+jws', hosted: 'atrium-hosted-policy+jws' }
const withRunner = [ownerKey, memberKey, runnerKey]
const namedBy = (more: Partial<HostedAgent>) => async () => [await pageOf((await openHosted(more)).lines)]

/** Each as the pages that the member gets, and what it must say. */
export const tamperedHostedRooms: Record<string, [TamperProblem, () => Promise<object[]>]> = {
  'a list keeps the device of a hosted agent and hides whose it is': [
    'policy',
    () => after((store) => store.change({ hosted: [] }), openHosted),
  ],
  'the key changes, and a list hides whose the device is': [
    'policy',
    () => after((store) => store.rekey({ hosted: [] }), openHosted),
  ],
  'a list gives the device of a hosted agent to another agent': [
    'policy',
    () => after((store) => store.change({ hosted: [{ ...hosted, agent: 'agt_other' }] }), openHosted),
  ],
  'the device of a hosted agent comes back as that of a person': [
    'policy',
    () => after((store) => store.change({ devices: withRunner, revoked: [] }), openAfterHosted),
  ],
  'a list makes a member a hosted agent': [
    'policy',
    () =>
      after(async (store) =>
        store.change({ hosted: [{ agent: hostedAgent, device: memberKey, card: await signCard(member, room, 'Grace') }] }),
      ),
  ],
  'a list makes the owner a hosted agent': [
    'policy',
    () =>
      after(async (store) =>
        store.change({ hosted: [{ agent: hostedAgent, device: ownerKey, card: await signCard(owner, room, 'Ada') }] }),
      ),
  ],
  'a hosted agent is not on the list': ['policy', () => after((store) => store.change({ hosted: [hosted] }))],
  'a hosted agent has a name that is none': ['policy', namedBy({ agent: 'agt other' })],
  'a hosted agent has the card of another device': ['policy', async () => namedBy({ card: await card(stranger) })()],
  'a hosted agent has a card for another room': [
    'policy',
    async () => namedBy({ card: await card(runner, { room: 'harbour' }) })(),
  ],
  'a hosted agent has a card that is not signed by its device': [
    'policy',
    () => namedBy({ card: `${hosted.card.slice(0, hosted.card.lastIndexOf('.') + 1)}${'A'.repeat(86)}` })(),
  ],
  'a list names a hosted agent twice': [
    'policy',
    () => after((store) => store.change({ devices: withRunner, hosted: [hosted, hosted] })),
  ],
  'a hosted agent is named in a list that older readers accept': [
    'policy',
    () => after((store) => retyped(store, hostedTypes.plain, { hosted: [hosted] })),
  ],
  'a list for hosted agents names none': ['policy', () => after((store) => retyped(store, hostedTypes.hosted, {}))],
  'a list for hosted agents has an empty list of them': [
    'policy',
    () => after((store) => retyped(store, hostedTypes.hosted, { hosted: [] })),
  ],
  'a hosted agent is an open invitation': [
    'record',
    () =>
      after(async (store) =>
        store.change({
          devices: [ownerKey, memberKey, invitedKey],
          invites: [invite],
          hosted: [{ agent: hostedAgent, device: invitedKey, card: await card(invited) }],
        }),
      ),
  ],
  'a second device of a hosted agent writes': [
    'author',
    () =>
      after(async (store) => {
        await store.write({ t: 'vouch', card: await card(stranger) }, { by: runner })
        await store.change({ devices: [...store.list.devices, stranger.signing.thumbprint] })
        await store.speak('x', stranger)
      }, openHosted),
  ],
  'a hosted agent writes after it has left': ['author', () => after((store) => store.speak('x', runner), openAfterHosted)],
}
