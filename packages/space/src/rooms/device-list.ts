import { type CompactJws, decodeJsonPart, parseCompactJws } from '@atrium/identity/compact-jws'
import type { DeviceKey } from '@atrium/identity/device-key'
import { isEs256Signature } from '@atrium/identity/signature'
import { SpaceError } from '../space-error.ts'
import type { RoomHead } from './head.ts'

/** The list of devices of a room, as its owner has signed it in the clear part of a line. Keys are thumbprints. */
export interface DeviceList {
  /** The public access key of the room from this line on. */
  readonly access: string
  readonly owner: string
  readonly devices: readonly string[]
  readonly revoked: readonly string[]
  readonly room: string
  /** The hash of the line with the list before. */
  readonly prev: string | undefined
  readonly signed: CompactJws
}

/** The list that a line has; undefined: it has none. Throws SpaceError if it has something else in its place. */
export function findDeviceList(line: string): DeviceList | undefined {
  const header = decodeJsonPart(/^\{"protected":"([\w-]+)"/.exec(line)?.[1] ?? '')
  if (header?.['policy'] === undefined) return undefined
  const signed = parseCompactJws(header['policy'], line.length)
  const { room, access, owner, devices, revoked, prev } = (signed && decodeJsonPart(signed.payload)) ?? {}
  if (!signed || !isText(room) || !isText(access) || !isText(owner) || !areTexts(devices) || !areTexts(revoked))
    throw new SpaceError('invalid_request', '/line has no list of devices in its policy')
  return { access, owner, devices, revoked, room, prev: isText(prev) ? prev : undefined, signed }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

/** The lists of rooms that were used lately, by the hash of their line: a long one takes milliseconds to parse. */
const parsed = new Map<string, DeviceList>()
const maxParsed = 500

/** The list in force. */
export function deviceListOf({ room, policyLine, policyHash }: RoomHead): DeviceList {
  const list = parsed.get(policyHash) ?? findDeviceList(policyLine)
  if (!list) throw new Error(`room ${room} has lost its list of devices`)
  if (parsed.size >= maxParsed) parsed.clear()
  parsed.set(policyHash, list)
  return list
}

/** Throws SpaceError unless this device owns the list and has signed it. */
export function assertOwnerSigned({ owner, devices, signed }: DeviceList, { thumbprint, publicKey }: DeviceKey): void {
  const { header, signedText, signature } = signed
  const isTheirs =
    owner === thumbprint &&
    devices.includes(owner) &&
    header['alg'] === 'ES256' &&
    // The second one names agents that the operator runs. Readers check what it says.
    ['atrium-policy+jws', 'atrium-hosted-policy+jws'].includes(String(header['typ'])) &&
    isEs256Signature(publicKey, signedText, signature)
  if (!isTheirs) throw new SpaceError('not_authorized', 'not_owner')
}
