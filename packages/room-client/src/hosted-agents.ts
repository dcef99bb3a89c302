import type { DevicePolicy } from './device-policy.ts'
import { type Card, readCard } from './room-device.ts'

/** An agent that the operator of the platform runs, as a list names it. Its operator can read along. */
export interface HostedAgent {
  /** The id of the agent. */
  readonly agent: string
  /** Thumbprint of the device with which the operator reads. It is one of the list's devices. */
  readonly device: string
  /** The card of that device. */
  readonly card: string
}

const AGENT_ID = /^[\w-]{1,64}$/

/** Whether it is the member `hosted` of a list. A list without such an agent does not have the member. */
export function areHosted(value: unknown, { owner, devices }: { owner: unknown; devices: readonly string[] }): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  const isForm = (one: Partial<HostedAgent> | null) =>
    typeof one?.agent === 'string' &&
    AGENT_ID.test(one.agent) &&
    typeof one.card === 'string' &&
    typeof one.device === 'string' &&
    one.device !== owner &&
    devices.includes(one.device)
  return value.every(isForm) && new Set(value.map(({ device }: HostedAgent) => device)).size === value.length
}

/** Whether the owner can name this agent in the next list. A reader would refuse a list that says something else than before. */
export function mayHost(one: HostedAgent, last: DevicePolicy, known: ReadonlyMap<string, HostedAgent>): boolean {
  const { agent, device, card } = one
  const before = known.get(device)
  const isSame = before ? before.agent === agent && before.card === card : !last.devices.includes(device)
  return isSame && areHosted([one], { owner: last.owner, devices: [device] })
}

/**
 * The cards of the agents that a list names; undefined: a card is not that of its device, or the list says something else
 * than the lists before. A device that a list has named is on a later list only under the same agent, so no list
 * withdraws the notice while the device reads. And a device that is on the list already does not become an agent's.
 * `known`: all that the lists before have named, by device.
 */
export async function readHosted(
  { room, devices, hosted = [] }: DevicePolicy,
  before: DevicePolicy | undefined,
  known: ReadonlyMap<string, HostedAgent>,
): Promise<Card[] | undefined> {
  const named = new Map(hosted.map((one) => [one.device, one]))
  for (const device of devices) {
    const [was, is] = [known.get(device), named.get(device)]
    if (was ? was.agent !== is?.agent || was.card !== is.card : is && before?.devices.includes(device)) return undefined
  }
  const cards: Card[] = []
  for (const { device, card: text } of hosted) {
    const card = await readCard(text, room)
    if (card?.key !== device) return undefined
    cards.push(card)
  }
  return cards
}
