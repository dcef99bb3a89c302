import { MAX_REVOKED } from './device-policy.ts'
import type { HostedAgent } from './hosted-agents.ts'
import type { NewList } from './listed-lines.ts'
import { newRoomSecret } from './new-room-secret.ts'

/** A device that leaves the list, also an invitation that was answered, must not read on. */
function rekeyed(list: NewList): NewList {
  return { ...list, generation: list.generation + 1, before: list.mk, mk: newRoomSecret().mk }
}

/** Each device takes the place of the invitation that it has answered. */
export function withAdmitted(list: NewList, answered: readonly { invitation: string; device: string }[]): NewList {
  const used = new Set(answered.map(({ invitation }) => invitation))
  const joining = answered.map(({ device }) => device)
  return {
    ...rekeyed(list),
    devices: [...new Set([...list.devices.filter((key) => !used.has(key)), ...joining])],
    invites: list.invites.filter(({ key }) => !used.has(key)),
    revoked: list.revoked.filter((key) => !joining.includes(key)),
  }
}

/** Devices, invitations or hosted agents leave the list. undefined: none of them is on it, as another tab may have removed them. */
export function without(list: NewList, keys: readonly string[]): NewList | undefined {
  const leave = list.devices.filter((key) => keys.includes(key))
  if (leave.length === 0) return undefined
  return {
    ...rekeyed(list),
    devices: list.devices.filter((key) => !keys.includes(key)),
    invites: list.invites.filter(({ key }) => !keys.includes(key)),
    hosted: (list.hosted ?? []).filter(({ device }) => !keys.includes(device)),
    // The list has a limit. A device that falls off its end is refused as not_on_list.
    revoked: [...list.revoked, ...leave].slice(-MAX_REVOKED),
  }
}

/** The device of an agent joins the list, under the name of the agent. Nobody leaves, so the key stays. */
export function withHosted(list: NewList, one: HostedAgent): NewList {
  if (list.devices.includes(one.device)) return list
  const revoked = list.revoked.filter((key) => key !== one.device)
  return { ...list, devices: [...list.devices, one.device], revoked, hosted: [...(list.hosted ?? []), one] }
}
