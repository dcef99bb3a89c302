import { dedupeToken, deriveDedupeKey, proofDedupeToken } from '@atrium/sealing/dedupe-token'
import { authorOf, type Requester } from './authorise.ts'
import type { AdmitRequest, ExpelRequest, RenameRequest, TurnRequest } from './request.ts'

/**
 * Identifies a repeated turn: by its client_id or, without one, by its proof, which somebody who captured it could
 * send again.
 */
export function dedupeOf(request: TurnRequest, requester: Requester): string | undefined {
  const { client_id: clientId } = request.message
  if (clientId === undefined) return dedupeOfProof(request, requester)
  const author = authorOf(requester)
  const who = author.kind === 'account' ? author.email : author.kind === 'agent' ? author.id : (author.key ?? '')
  return dedupeToken({ key: deriveDedupeKey(request), author: who, clientId })
}

/**
 * A proof is valid for minutes. A repeat of it changes nothing: otherwise it could admit somebody who was removed
 * meanwhile.
 */
export function dedupeOfProof(
  request: TurnRequest | AdmitRequest | ExpelRequest | RenameRequest,
  { proofId }: Requester,
): string | undefined {
  return proofId === undefined ? undefined : proofDedupeToken(deriveDedupeKey(request), proofId)
}
