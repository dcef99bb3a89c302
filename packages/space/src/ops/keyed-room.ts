import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from '@atrium/identity/compact-jws'
import { type DeviceKey, parseDeviceKey } from '@atrium/identity/device-key'
import { isProof } from '@atrium/identity/proof'
import { isEdDsaSignature } from '@atrium/identity/signature'
import { proofContent } from '@atrium/sealing/proof'
import { SIGNATURE_TYPE, signedContent, type SignedRequest } from '@atrium/sealing/signed-request'
import { type DeviceList, deviceListOf } from '../rooms/device-list.ts'
import type { RoomHead } from '../rooms/head.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'

const maxSignatureLength = 1_024
const maxProofLength = 4_096
const maxClockSeconds = 5 * 60
const maxLineBytes = 64 * 1024

/** The request of a device. */
export type DeviceRequest = SignedRequest & { readonly spk?: unknown; readonly proof?: unknown }

export interface KeyedRoom {
  head: RoomHead
  /** Only in a room with a list: the list, and the device on it that sent the request. */
  listed?: { list: DeviceList; device: DeviceKey }
}

/**
 * A room whose lines the clients seal. Throws SpaceError unless its access key has signed the request and, if the room
 * has a list of devices, one of them has.
 */
export async function getKeyedRoom(
  ctx: SpaceContext,
  request: DeviceRequest,
  { known, receivedMs = Date.now() }: { known?: RoomHead | undefined; receivedMs?: number } = {},
): Promise<KeyedRoom> {
  // Another process may have written a newer list.
  const head = known?.accessKey ? known : await ctx.heads.add(request.room)
  if (!head) throw new SpaceError('not_found', 'room')
  if (head.accessKey === undefined) throw new SpaceError('room_exists', 'server_sealed')
  if (head.accessKey !== '') {
    await assertSigned(ctx, request, head.accessKey, receivedMs)
    return { head }
  }
  const list = deviceListOf(head)
  const refused = await assertSigned(ctx, request, list.access, receivedMs).catch((error: unknown) => error)
  // A device that was away when the key changed has an old one, and reads the lines to get the new one.
  if (refused && request.op !== 'read') throw refused
  try {
    return { head, listed: { list, device: getListed(request, list, receivedMs) } }
  } catch (error) {
    // A device on the list with a wrong clock is not told that it was removed.
    throw isListedAtItsTime(request, list) ? error : (refused ?? error)
  }
}

/** Whether only the time of its proof is wrong. Nobody else learns whether a device is on the list. */
function isListedAtItsTime(request: DeviceRequest, list: DeviceList): boolean {
  const jws = parseCompactJws(request.proof, maxProofLength)
  const iat = jws && decodeJsonPart(jws.payload)?.['iat']
  try {
    return typeof iat === 'number' && getListed(request, list, iat * 1_000) !== undefined
  } catch {
    return false
  }
}

/** The device that sent the request. Throws SpaceError unless it proves its key, and the key is on the list. */
export function getListed(request: DeviceRequest, { devices, revoked }: DeviceList, nowMs: number): DeviceKey {
  const device = request.spk === undefined ? undefined : parseDeviceKey(request.spk)
  if (!device) throw new SpaceError('not_authorized', 'unsigned')
  const { op, room, proof } = request
  const sha256 = hash('sha256', proofContent(request), 'hex')
  if (!isProof(proof, { publicKey: device.publicKey, op, room, sha256, nowMs }))
    throw new SpaceError('not_authorized', 'unproven')
  if (devices.includes(device.thumbprint)) return device
  throw new SpaceError('not_authorized', revoked.includes(device.thumbprint) ? 'revoked' : 'not_on_list')
}

/** Throws SpaceError unless the access key has signed exactly this request, for this service, in these minutes. */
export async function assertSigned(
  { audience }: SpaceContext,
  request: SignedRequest,
  accessKey: string,
  nowMs: number,
): Promise<void> {
  const { op, room, signature } = request
  const key = importAccessKey(accessKey)
  const jws = parseCompactJws(signature, maxSignatureLength)
  const isTheirs =
    key &&
    jws?.header['alg'] === 'EdDSA' &&
    jws.header['typ'] === SIGNATURE_TYPE &&
    (await isEdDsaSignature(key, jws.signedText, jws.signature))
  const claims = isTheirs ? decodeJsonPart(jws.payload) : undefined
  const signed = { aud: audience, htm: 'POST', op, room, sha256: hash('sha256', signedContent(request), 'base64url') }
  if (!claims || Object.entries(signed).some(([name, value]) => claims[name] !== value))
    throw new SpaceError('not_authorized', 'bad_room_key')
  const { iat } = claims
  if (typeof iat !== 'number' || Math.abs(nowMs / 1_000 - iat) > maxClockSeconds)
    throw new SpaceError('not_authorized', 'bad_clock')
}

/** Keys that were used lately: an import takes as long as all other steps of a check but the signature. */
const imported = new Map<string, KeyObject>()
const maxImported = 2_000

export function importAccessKey(x: string): KeyObject | undefined {
  const known = imported.get(x)
  if (known) return known
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    if (imported.size >= maxImported) imported.clear()
    imported.set(x, key)
    return key
  } catch {
    return undefined
  }
}

export function assertLineFits(line: string): void {
  if (line.length > maxLineBytes) throw new SpaceError('payload_too_large', `a line goes up to ${maxLineBytes} bytes`)
}
