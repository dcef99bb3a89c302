import { createHmac, type KeyObject } from 'node:crypto'
import { deriveKey } from './room-key.ts'
import { DEDUPE_KEY_INFO, type RoomSecret } from './room-secret.ts'

/**
 * Derives the key of a room's de-duplication tokens; it opens no line. Throws TypeError for a malformed room or mk.
 */
export function deriveDedupeKey(secret: RoomSecret): KeyObject {
  return deriveKey(secret, DEDUPE_KEY_INFO)
}

/**
 * The author of the client_id: the account's e-mail, the agent's id, the device key's thumbprint, or '' for a caller
 * without identity.
 */
export interface DedupeInput {
  readonly key: KeyObject
  readonly author: string
  readonly clientId: string
}

/**
 * A token for a unique index, so that a repeated client_id is stored once: HMAC-SHA-256, 43 characters of base64url.
 * Without the room key it discloses nothing, not even that two rooms have the same client.
 */
export function dedupeToken({ key, author, clientId }: DedupeInput): string {
  // In JSON, no two pairs have the same text: ("a", "bc") differs from ("ab", "c").
  return createHmac('sha256', key)
    .update(JSON.stringify([author, clientId]))
    .digest('base64url')
}

/**
 * The same for a proof of possession, by its id. It has three members, so that it never equals the text of an author
 * and a client_id.
 */
export function proofDedupeToken(key: KeyObject, proofId: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['proof', '', proofId]))
    .digest('base64url')
}
