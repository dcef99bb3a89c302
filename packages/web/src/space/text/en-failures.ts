import { isolated, number, plural } from './format.ts'

const credits = (count: number) => plural(count, { one: '# credit', other: '# credits' })

/** The reasons for rejections and failures, each with a title and what the visitor can do. */
export const failures = {
  yourAccount: 'Your account',
  noAnswer: {
    title: 'The service does not answer',
    text: 'Perhaps you are offline. Nothing you typed is lost; try again in a moment.',
  },
  /** What a reader found wrong in a client-sealed room, and where. */
  tampered: {
    title: 'This history cannot be trusted',
    lost: 'The service no longer has lines that it has shown before, or fewer than it says.',
    altered: 'A line was changed, moved, repeated or left out. The service may have done it.',
    foreign: 'There is a line that no member’s app has written. The service or somebody who can write here has put it there.',
    line: (seq: number, problem: string) =>
      `Line ${number(seq)} (${isolated(problem)}). All earlier lines that are shown have passed every check.`,
    endTitle: 'What was checked ends here',
    end: (seq: number) =>
      `The messages above have passed every check. Line ${number(seq)} has not, so nothing more is shown or written here.`,
    again: 'Forget what this device has checked, and read the room again',
    /** For the owner of a list. */
    restored:
      'If the service has restored an old backup, people you have removed may be back. Read the room again, and remove them once more before you write.',
  },
  notOnList: {
    title: 'You are not on the list',
    text: (email: string) =>
      `${isolated(email)} is not on this room’s list. Ask the room’s owner to add it, or sign in with the address that was invited.`,
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
    text: 'The list of a room, and the room itself, belong to the person who made it.',
  },
  badToken: {
    title: 'Your sign-in was not accepted',
    text: 'The service could not verify it. Signing in again usually helps.',
  },
  badClock: {
    title: 'The clock of this device is wrong',
    text: 'It differs from that of the service by more than a minute. Set the time of the device.',
  },
  badRoomKey: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. It may have been cut off or changed when it was copied. Ask for the link again.',
  },
  unsigned: {
    title: 'This room has a list',
    text: 'Only the people on it may enter. Sign in with the e-mail address that was invited.',
  },
  tokenExpired: {
    title: 'Your sign-in has expired',
    text: 'Sign in again to continue. What you have written is kept.',
  },
  tokenNotYetValid: {
    title: 'Your sign-in is dated in the future',
    text: 'One of the clocks is wrong, this device’s or the provider’s. Set the time, then sign in again.',
  },
  tokenBadAudience: {
    title: 'This sign-in was made for another service',
    text: 'It is genuine, but not for this service. Sign in again here.',
  },
  tokenBadIssuer: {
    title: 'This sign-in comes from elsewhere',
    text: 'It was made by a provider that this service does not know. Sign in again here.',
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
    text: 'The identity provider has not confirmed that the address is yours. Confirm it there, then sign in again.',
  },
  otherDevice: {
    title: 'This sign-in belongs to another device',
    text: 'A sign-in is valid only on the device on which it was made. Sign in again on this one.',
  },
  unproven: {
    title: 'This room requires signed messages',
    text: 'The device on which a message is written must sign it, and this browser could not do that.',
  },
  notFound: {
    title: 'The service has no such room',
    text: 'It was removed by its owner, or never made. What has been removed cannot be brought back.',
  },
  roomExists: { title: 'This room exists already', text: 'Try again: every room gets a new name.' },
  tooLarge: {
    title: 'That is too much',
    text: (kilobytes: number, messages: number) =>
      `A message can have up to ${number(kilobytes)} KB, and a room up to ${number(messages)} messages.`,
  },
  rateLimited: {
    title: 'A little slower, please',
    text: 'Too many requests came from your network address. The page continues by itself in a moment.',
  },
  listChanged: {
    title: 'The list has changed',
    text: 'Perhaps another tab has changed it. Try again in a moment.',
  },
  unavailable: {
    title: 'Not available right now',
    text: 'The service or its identity provider has a problem. Try again in a moment.',
  },
  internal: {
    title: 'The room could not be read',
    text: 'The service had an internal error, or the stored messages were changed. It shows nothing, because what it would show could be wrong.',
  },
  invalidRequest: {
    title: 'The service did not accept this',
    text: 'The request was not valid. Reloading the page may help.',
  },

  /** Of inviting an agent. */
  insufficientCredit: {
    title: 'This coupon does not pay for it',
    text: (price: number) =>
      `The service does not know it, or it has less than ${credits(price)} left. Nothing was taken from it.`,
  },
  priceChanged: {
    title: 'Its price has changed',
    text: (shown: number) =>
      `It now costs more than the price shown (${creditsOrNothing(shown)}). Nothing was taken from the coupon. Press again to invite it at the new price.`,
    textNow: (now: number, shown: number) =>
      `It now costs ${creditsOrNothing(now)} instead of ${creditsOrNothing(shown)}. Nothing was taken from the coupon. Press again to invite it at the new price.`,
  },
  catalog: { title: 'The catalog could not be fetched', text: 'Perhaps you are offline. Try again in a moment.' },
  uncertain: {
    title: 'No answer came',
    text: 'The agent may have been invited anyway. Press again to find out: that neither invites nor pays twice.',
  },
  badKey: {
    title: 'This page can no longer invite agents',
    text: 'The key of this page is no longer valid. Reload the page. If that does not help, ask the operator of the service.',
  },
  invitingTooFast: {
    title: 'A little slower, please',
    text: 'Too many requests came from your network address. Try again in a moment.',
  },
  agentGone: {
    title: 'This agent can no longer be invited',
    text: 'It was removed from the catalog. Nothing was taken from the coupon.',
  },
  noAgents: {
    title: 'This room does not let agents in',
    text: 'The Space service does not accept the agents’ proof of identity. Ask its operator. Nothing was taken from the coupon.',
  },
  agentBadRoomKey: {
    title: 'This key does not open the room',
    text: 'The last part of the link, after the #, is not this room’s key. Ask for the link again.',
  },
  agentUnproven: {
    title: 'This room requires signed messages',
    text: 'The agent could not do that. Nothing was taken from the coupon.',
  },
}

function creditsOrNothing(count: number): string {
  return count === 0 ? 'nothing' : credits(count)
}
