import { ApiFailure } from '../api/platform-api.ts'
import { UNKNOWN, type Words } from '../api/failure-words.ts'
import { creditsInText } from './amounts.ts'
import { isUncertain } from './launcher.ts'

/** Why an agent was not invited, in plain words. */
export function launchWords(failure: unknown, price: number): Words {
  if (failure instanceof ApiFailure) {
    const { code, reason, paths } = failure
    if (code === 'insufficient_credit') {
      return {
        title: 'This coupon does not pay for it',
        text: `It is not known here, or less than ${creditsInText(Math.max(price, 1))} is left on it. Nothing was taken from it.`,
      }
    }
    if (code === 'price_changed') return priceWords(failure.priceCredits, price)
    if (code === 'not_authorized') return BY_REASON[reason] ?? NO_AGENTS
    if (paths.includes('/agent_id')) return GONE
    if (code === 'rate_limited') return SLOWER
    if (failure.status === 401) return BAD_KEY
  }
  return isUncertain(failure) ? UNCERTAIN : UNKNOWN
}

function priceWords(now: number | undefined, shown: number): Words {
  const costs = now === undefined ? 'It costs more by now' : `It costs ${creditsInText(now)} by now`
  return {
    title: 'Its price has changed',
    text: `${costs}, and not ${creditsInText(shown)}. Nothing was taken from the coupon: press once more to invite it for that.`,
  }
}

/** Whether the room's owner can help, by letting the agent in. */
export function isOffList(failure: unknown): boolean {
  return (
    failure instanceof ApiFailure &&
    failure.code === 'not_authorized' &&
    (failure.reason === 'not_on_list' || failure.reason === 'revoked')
  )
}

/** Why the catalog does not show. */
export function catalogWords(failure: unknown): Words {
  if (failure instanceof ApiFailure && failure.status === 401) return BAD_KEY
  if (failure instanceof ApiFailure && failure.code === 'rate_limited') return SLOWER
  return { title: 'The catalog could not be fetched', text: 'Perhaps you are offline. Try again in a moment.' }
}

const UNCERTAIN: Words = {
  title: 'No answer came',
  text: 'It may have been invited all the same. Press once more to find out: that neither invites nor pays twice.',
}

const BAD_KEY: Words = {
  title: 'This page may not invite agents any more',
  text: 'The key that the service gave it is no longer good. Reload the page; if that does not help, whoever runs the service can.',
}

const SLOWER: Words = {
  title: 'A little slower, please',
  text: 'Too much came from your address at once. Try again in a moment.',
}

const GONE: Words = {
  title: 'This agent cannot be invited any more',
  text: 'It was taken out of the catalog. Nothing was taken from the coupon.',
}

const NO_AGENTS: Words = {
  title: 'This room lets no agent in',
  text: 'The Space service does not accept what agents prove themselves with. Whoever runs it can tell why. Nothing was taken from the coupon.',
}

const BY_REASON: Readonly<Record<string, Words>> = {
  bad_room_key: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. Ask for the link once more.',
  },
  unproven: {
    title: 'This room wants every message signed',
    text: 'The agent could not do that. Nothing was taken from the coupon.',
  },
}
