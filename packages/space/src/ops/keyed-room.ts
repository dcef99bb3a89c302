import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { decodeJsonPart, parseCompactJws } from '@atrium/identity/compact-jws'
import { isEdDsaSignature } from '@atrium/identity/signature'
import { SIGNATURE_TYPE, signedContent, type SignedRequest } from '@atrium/sealing/signed-request'
import type { RoomHead } from '../rooms/head.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'

const maxSignatureLength = 1_024
const maxClockSeconds = 5 * 60
const maxLineBytes = 64 * 1024

/** The head of a room whose lines the clients seal. Throws SpaceError unless its access key has signed the request. */
export async function getKeyedRoom(
  ctx: SpaceContext,
  request: SignedRequest,
  { known, receivedMs = Date.now() }: { known?: RoomHead | undefined; receivedMs?: number } = {},
): Promise<RoomHead> {
  const head = known ?? (await ctx.heads.add(request.room))
  if (!head) throw new SpaceError('not_found', 'room')
  if (head.accessKey === undefined) throw new SpaceError('room_exists', 'server_sealed')
  await assertSigned(ctx, request, head.accessKey, receivedMs)
  return head
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

function importAccessKey(x: string): KeyObject | undefined {
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
