import { SpaceCallError } from '@atrium/room-client/space-call-error'

export interface Words {
  readonly title: string
  readonly text: string
  /** What may help: signing in (again), or nothing that can be done on this page. */
  readonly remedy?: 'sign-in'
}

/** Why the service said no, in plain words. `email` is who is signed in. */
export function failureWords(failure: unknown, email = 'Your account'): Words {
  if (!(failure instanceof SpaceCallError) || failure.status < 400) {
    return {
      title: 'The service does not answer',
      text: 'Perhaps you are offline. Nothing you typed is lost; try again in a moment.',
    }
  }
  if (failure.status === 403) return refusal(failure.reason, email)
  return BY_ERROR[failure.error] ?? UNKNOWN
}

function refusal(reason: string, email: string): Words {
  if (reason === 'not_on_list') {
    return {
      title: 'You are not on the list',
      text: `${email} is not on this room’s list. Ask whoever made the room to add it, or sign in with the address you were invited under.`,
      remedy: 'sign-in',
    }
  }
  if (reason === 'revoked') {
    return {
      title: 'You were taken off the list',
      text: `${email} could enter this room before, and has since been removed by its owner.`,
      remedy: 'sign-in',
    }
  }
  return BY_REASON[reason] ?? (reason.startsWith('token: ') ? BAD_TOKEN : OWNER_ONLY)
}

export const UNKNOWN: Words = {
  title: 'That did not work',
  text: 'The service gave an answer that this page does not understand. Reloading may help.',
}

const OWNER_ONLY: Words = {
  title: 'Only the owner can do this',
  text: 'The list of a room, and the room itself, belong to whoever made it.',
}

const BAD_TOKEN: Words = {
  title: 'Your sign-in was not accepted',
  text: 'The service could not make sure that it is genuine. Signing in again usually helps.',
  remedy: 'sign-in',
}

const BY_REASON: Readonly<Record<string, Words>> = {
  bad_room_key: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. It may have been cut off or changed when it was copied: ask for the link once more.',
  },
  unsigned: {
    title: 'This room has a list',
    text: 'Only the people on it may enter. Sign in with the e-mail address you were invited under.',
    remedy: 'sign-in',
  },
  'token: expired': {
    title: 'Your sign-in has run out',
    text: 'It is only good for a while. Sign in again to go on; what you have written is kept.',
    remedy: 'sign-in',
  },
  'token: not_yet_valid': {
    title: 'Your sign-in is dated in the future',
    text: 'One of the clocks is wrong, this device’s or the provider’s. Set the time, then sign in again.',
    remedy: 'sign-in',
  },
  'token: bad_aud': {
    title: 'This sign-in was made for another service',
    text: 'It is genuine, but was not meant for this place. Sign in again from here.',
    remedy: 'sign-in',
  },
  'token: bad_issuer': {
    title: 'This sign-in comes from elsewhere',
    text: 'It was made by a provider that this service does not know. Sign in again from here.',
    remedy: 'sign-in',
  },
  'token: bad_signature': {
    title: 'Your sign-in is not genuine',
    text: 'Its signature is not that of the identity provider. Sign in again.',
    remedy: 'sign-in',
  },
  'token: malformed': {
    title: 'Your sign-in cannot be read',
    text: 'What the identity provider sent is damaged. Sign in again.',
    remedy: 'sign-in',
  },
  'token: unverified_email': {
    title: 'Your e-mail address is not confirmed',
    text: 'The identity provider has not made sure that the address is yours. Confirm it there, then sign in again.',
    remedy: 'sign-in',
  },
  nonce_mismatch: {
    title: 'This sign-in belongs to another device',
    text: 'A sign-in counts only together with the device on which it was made. Sign in again on this one.',
    remedy: 'sign-in',
  },
  unproven: {
    title: 'This room wants every message signed',
    text: 'Messages must be signed by the device they are written on, and this browser could not do it.',
  },
}

const BY_ERROR: Readonly<Record<string, Words>> = {
  not_found: {
    title: 'There is no such room',
    text: 'It was removed by its owner, or never made. What has been removed cannot be brought back.',
  },
  room_exists: { title: 'This room exists already', text: 'Try once more: every room gets a new name.' },
  payload_too_large: { title: 'That is too much', text: 'A message holds up to 16 KB, a room up to 100,000 messages.' },
  rate_limited: {
    title: 'A little slower, please',
    text: 'Too much came from your address at once. It goes on by itself in a moment.',
  },
  unavailable: {
    title: 'Not available right now',
    text: 'The service, or the identity provider it asks, has trouble. Try again in a moment.',
  },
  internal_error: {
    title: 'The room could not be read',
    text: 'Something broke on the service’s side, or what is stored is no longer what was written. It shows nothing rather than something false.',
  },
  invalid_request: {
    title: 'The service did not accept this',
    text: 'Something in it is not as it should be. Reloading the page may help.',
  },
}
