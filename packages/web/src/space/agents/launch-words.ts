import { ListFullError } from '@atrium/room-client/listed-types'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { failureWords, type Words } from '../api/failure-words.ts'
import { ApiFailure } from '../api/platform-api.ts'
import { t } from '../text/text.ts'
import { isUncertain } from './launcher.ts'

/** Why an agent was not invited, in plain words. */
export function launchWords(failure: unknown, price: number): Words {
  const { failures } = t
  if (failure instanceof ApiFailure) {
    const { code, reason, paths } = failure
    if (code === 'insufficient_credit') {
      const { title, text } = failures.insufficientCredit
      return { title, text: text(Math.max(price, 1)) }
    }
    if (code === 'price_changed') return priceWords(failure.priceCredits, price)
    if (reason === 'agent_key_changed') return t.agents.sealed.keyChanged
    if (code === 'not_authorized') return refusal(reason)
    if (paths.includes('/agent_id')) return failures.agentGone
    if (code === 'rate_limited') return failures.invitingTooFast
    if (failure.status === 401) return failures.badKey
  }
  if (isUncertain(failure)) return failures.uncertain
  // The agent could not be put on the list of the room: the list is full, or the Space service refuses.
  const isOfRoom = [ListFullError, TamperedRoomError, SpaceCallError].some((kind) => failure instanceof kind)
  return isOfRoom ? failureWords(failure) : failures.unknown
}

function priceWords(now: number | undefined, shown: number): Words {
  const { title, text, textNow } = t.failures.priceChanged
  return { title, text: now === undefined ? text(shown) : textNow(now, shown) }
}

function refusal(reason: string): Words {
  if (reason === 'bad_room_key') return t.failures.agentBadRoomKey
  return reason === 'unproven' ? t.failures.agentUnproven : t.failures.noAgents
}

/** Whether the room's owner can help by letting the agent in. */
export function isOffList(failure: unknown): boolean {
  return (
    failure instanceof ApiFailure &&
    failure.code === 'not_authorized' &&
    (failure.reason === 'not_on_list' || failure.reason === 'revoked')
  )
}

/** Why the catalog does not show. */
export function catalogWords(failure: unknown): Words {
  if (failure instanceof ApiFailure && failure.status === 401) return t.failures.badKey
  if (failure instanceof ApiFailure && failure.code === 'rate_limited') return t.failures.invitingTooFast
  return t.failures.catalog
}
