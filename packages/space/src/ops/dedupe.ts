import { dedupeToken, deriveDedupeKey, proofDedupeToken } from '@atrium/sealing/dedupe-token'
import { authorOf, type Requester } from './authorise.ts'
import type { AdmitRequest, ExpelRequest, RenameRequest, TurnRequest } from './request.ts'

/** By what a repeated turn is known: its client_id or, without one, its proof, which whoever captured it could send again. */
export function dedupeOf(request: TurnRequest, requester: Requester): string | undefined {
  const { client_id: clientId } = request.message
  if (clientId === undefined) return dedupeOfProof(request, requester)
  const author = authorOf(requester)
  const who = author.kind === 'account' ? author.email : author.kind === 'agent' ? author.id : (author.key ?? '')
  return dedupeToken({ key: deriveDedupeKey(request), author: who, clientId })
}

/** A proof is valid for minutes. Sent again in that time it changes nothing: else it would let in again who was sent away meanwhile. */
export function dedupeOfProof(
  request: TurnRequest | AdmitRequest | ExpelRequest | RenameRequest,
  { proofId }: Requester,
): string | undefined {
  return proofId === undefined ? undefined : proofDedupeToken(deriveDedupeKey(request), proofId)
}
