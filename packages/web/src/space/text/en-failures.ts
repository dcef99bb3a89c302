import { isolated, number, plural } from './format.ts'

const credits = (count: number) => plural(count, { one: '# credit', other: '# credits' })

/** Why something was refused or did not work: a title, and what to do. */
export const failures = {
  yourAccount: 'Your account',
  noAnswer: {
    title: 'The service does not answer',
    text: 'Perhaps you are offline. Nothing you typed is lost; try again in a moment.',
  },
  notOnList: {
    title: 'You are not on the list',
    text: (email: string) =>
      `${isolated(email)} is not on this room’s list. Ask whoever made the room to add it, or sign in with the address you were invited under.`,
  },
  revoked: {
    title: 'You were taken off the list',
    text: (email: string) => `${isolated(email)} could enter this room before, and has since been removed by its owner.`,
  },
  unknown: {
    title: 'That did not work',
    text: 'The service gave an answer that this page does not understand. Reloading may help.',
  },
  ownerOnly: {
    title: 'Only the owner can do this',
    text: 'The list of a room, and the room itself, belong to whoever made it.',
  },
  badToken: {
    title: 'Your sign-in was not accepted',
    text: 'The service could not make sure that it is genuine. Signing in again usually helps.',
  },
  badRoomKey: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. It may have been cut off or changed when it was copied: ask for the link once more.',
  },
  unsigned: {
    title: 'This room has a list',
    text: 'Only the people on it may enter. Sign in with the e-mail address you were invited under.',
  },
  tokenExpired: {
    title: 'Your sign-in has run out',
    text: 'It is only good for a while. Sign in again to go on; what you have written is kept.',
  },
  tokenNotYetValid: {
    title: 'Your sign-in is dated in the future',
    text: 'One of the clocks is wrong, this device’s or the provider’s. Set the time, then sign in again.',
  },
  tokenBadAudience: {
    title: 'This sign-in was made for another service',
    text: 'It is genuine, but was not meant for this place. Sign in again from here.',
  },
  tokenBadIssuer: {
    title: 'This sign-in comes from elsewhere',
    text: 'It was made by a provider that this service does not know. Sign in again from here.',
  },
  tokenBadSignature: {
    title: 'Your sign-in is not genuine',
    text: 'Its signature is not that of the identity provider. Sign in again.',
  },
  tokenMalformed: {
    title: 'Your sign-in cannot be read',
    text: 'What the identity provider sent is damaged. Sign in again.',
  },
  unverifiedEmail: {
    title: 'Your e-mail address is not confirmed',
    text: 'The identity provider has not made sure that the address is yours. Confirm it there, then sign in again.',
  },
  otherDevice: {
    title: 'This sign-in belongs to another device',
    text: 'A sign-in counts only together with the device on which it was made. Sign in again on this one.',
  },
  unproven: {
    title: 'This room wants every message signed',
    text: 'Messages must be signed by the device they are written on, and this browser could not do it.',
  },
  notFound: {
    title: 'There is no such room',
    text: 'It was removed by its owner, or never made. What has been removed cannot be brought back.',
  },
  roomExists: { title: 'This room exists already', text: 'Try once more: every room gets a new name.' },
  tooLarge: {
    title: 'That is too much',
    text: (kilobytes: number, messages: number) =>
      `A message holds up to ${number(kilobytes)} KB, a room up to ${number(messages)} messages.`,
  },
  rateLimited: {
    title: 'A little slower, please',
    text: 'Too much came from your address at once. It goes on by itself in a moment.',
  },
  unavailable: {
    title: 'Not available right now',
    text: 'The service, or the identity provider it asks, has trouble. Try again in a moment.',
  },
  internal: {
    title: 'The room could not be read',
    text: 'Something broke on the service’s side, or what is stored is no longer what was written. It shows nothing rather than something false.',
  },
  invalidRequest: {
    title: 'The service did not accept this',
    text: 'Something in it is not as it should be. Reloading the page may help.',
  },

  /** Of inviting an agent. */
  insufficientCredit: {
    title: 'This coupon does not pay for it',
    text: (price: number) => `It is not known here, or less than ${credits(price)} is left on it. Nothing was taken from it.`,
  },
  priceChanged: {
    title: 'Its price has changed',
    text: (shown: number) =>
      `It costs more by now, and not ${creditsOrNothing(shown)}. Nothing was taken from the coupon: press once more to invite it for that.`,
    textNow: (now: number, shown: number) =>
      `It costs ${creditsOrNothing(now)} by now, and not ${creditsOrNothing(shown)}. Nothing was taken from the coupon: press once more to invite it for that.`,
  },
  catalog: { title: 'The catalog could not be fetched', text: 'Perhaps you are offline. Try again in a moment.' },
  uncertain: {
    title: 'No answer came',
    text: 'It may have been invited all the same. Press once more to find out: that neither invites nor pays twice.',
  },
  badKey: {
    title: 'This page may not invite agents any more',
    text: 'The key that the service gave it is no longer good. Reload the page; if that does not help, whoever runs the service can.',
  },
  invitingTooFast: {
    title: 'A little slower, please',
    text: 'Too much came from your address at once. Try again in a moment.',
  },
  agentGone: {
    title: 'This agent cannot be invited any more',
    text: 'It was taken out of the catalog. Nothing was taken from the coupon.',
  },
  noAgents: {
    title: 'This room lets no agent in',
    text: 'The Space service does not accept what agents prove themselves with. Whoever runs it can tell why. Nothing was taken from the coupon.',
  },
  agentBadRoomKey: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. Ask for the link once more.',
  },
  agentUnproven: {
    title: 'This room wants every message signed',
    text: 'The agent could not do that. Nothing was taken from the coupon.',
  },
}

function creditsOrNothing(count: number): string {
  return count === 0 ? 'nothing' : credits(count)
}
