import type {
  SpaceAdmit,
  SpaceAppend,
  SpaceAttest,
  SpaceCreate,
  SpaceExpel,
  SpaceMake,
  SpacePoll,
  SpaceRead,
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
export type MakeRequest = Static<typeof SpaceMake>
export type ReadRequest = Static<typeof SpaceRead>
export type AppendRequest = Static<typeof SpaceAppend>

/** The fields of a request that identify the caller. */
export type CredentialFields = Pick<PollRequest, 'op' | 'room' | 'mk' | 'idToken' | 'spk' | 'proof'> | IdentifiedChange
type IdentifiedChange = Pick<
  TurnRequest | CreateRequest | AdmitRequest | ExpelRequest | RenameRequest | RemoveRequest,
  'op' | 'room' | 'mk' | 'idToken' | 'spk' | 'proof'
>
