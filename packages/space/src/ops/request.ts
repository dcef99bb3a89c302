import type {
  SpaceAdmit,
  SpaceAttest,
  SpaceCreate,
  SpaceExpel,
  SpacePoll,
  SpaceRemove,
  SpaceRename,
  SpaceSealed,
  SpaceTurn,
} from '@atrium/contract/space-schemas'
import type { Static } from 'typebox'

export type PollRequest = Static<typeof SpacePoll>
export type TurnRequest = Static<typeof SpaceTurn>
export type SealedRequest = Static<typeof SpaceSealed>
export type AttestRequest = Static<typeof SpaceAttest>
export type CreateRequest = Static<typeof SpaceCreate>
export type AdmitRequest = Static<typeof SpaceAdmit>
export type ExpelRequest = Static<typeof SpaceExpel>
export type RenameRequest = Static<typeof SpaceRename>
export type RemoveRequest = Static<typeof SpaceRemove>

/** The part of a request that says who asks. */
export type CredentialFields = Pick<PollRequest, 'op' | 'room' | 'mk' | 'idToken' | 'spk' | 'proof'> | IdentifiedChange
type IdentifiedChange = Pick<
  TurnRequest | CreateRequest | AdmitRequest | ExpelRequest | RenameRequest | RemoveRequest,
  'op' | 'room' | 'mk' | 'idToken' | 'spk' | 'proof'
>
