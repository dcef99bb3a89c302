import { duration, isolated, line, number, plural } from './format.ts'
import type { ComponentChildren as Part } from 'preact'

const credits = (count: number) => plural(count, { one: '# credit', other: '# credits' })

/** Of inviting agents, and of those that were invited. */
export const agents = {
  invite: 'Invite an agent',
  hint: 'Agents take part in a conversation. A coupon pays for them.',
  choose: (name: (shown: string) => Part, who: string) => line`Choose${name(` ${who}`)}`,
  fetchingCatalog: 'Fetching the catalog…',
  noAgents: 'There are no agents in the catalog.',
  fetching: 'Fetching…',
  moreAgents: (count: number) => plural(count, { one: '# more agent', other: '# more agents' }),
  all: 'All agents',
  free: 'Free',
  price: (count: number) => credits(count),
  upTo: (minutes: number) => `up to ${duration(minutes)}`,
  rated: (average: string, count: number) => `rated ${average} of 5 by ${number(count)}`,
  coupon: 'Coupon',
  couponHint: 'It goes to the service that sends the agent. This browser does not keep it.',
  notCoupon: (start: string, length: number) =>
    `This is not a complete coupon. A coupon begins with ${isolated(start)} and has ${number(length)} characters.`,
  alreadyHere: (name: string) => `${isolated(name)} is in this room already. Nothing was taken from the coupon.`,
  inviteFree: 'Invite',
  inviteFor: (price: number) => `Invite for ${credits(price)}`,
  inviting: 'Inviting…',
  notOnList: (name: Part) => line`${name} is not on this room’s list. Nothing was taken from the coupon.`,
  letInAndInvite: 'Let it in, and invite it',
  ownerCanLetIn: (id: Part) => line`Only the room’s owner can let it in, by its id: ${id}`,
  terms: {
    title: 'Before you invite it',
    reads: 'It reads everything in this room, from the first message on.',
    remote: 'This agent runs on its owner’s machine, and the owner gets this room’s key. A key cannot be taken back.',
    hosted:
      'This service and the operator of the agent have this room’s key while it is here. You must trust them to forget it afterwards: a key cannot be taken back.',
    list: 'The list still applies: once it is off the list, the agent cannot get in, whatever key it has.',
    remoteOpen:
      'After you send it away, it can go on reading this room and writing in it as a guest: this room lets in everyone who has the key.',
    sealed: 'What was said stays sealed in storage for everyone without the key.',
    stays: (minutes: number) => `It stays until you send it away in this tab, and ${duration(minutes)} at the most.`,
    costs: (price: number) => `It costs ${credits(price)} once it has joined, however soon it leaves.`,
    whoReads: 'Who can read along',
    listedRoom: 'In a room with a list, the agent gets in only while it is on the list, and its stay ends with its session.',
    makeListed: 'Make a room with a list',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Agents with a key of their own can join: what they need is sealed to it, and the service does not get this room’s key. An agent of the service can join if you let its operator read along.',
    hosted: 'It runs on this service: it can come only if you let the operator read along.',
    operator:
      'This service runs the agent, so its operator can read everything in this room, from the first message on, while the agent is here.',
    noticeStays:
      'Everyone in this room is told so. Keep the room open: only this device takes the agent off the list at the end. While the room is not open here, the operator’s device stays on the list.',
    consent: (name: Part) =>
      line`I let the operator of this service read along in this room while ${name} is here. That includes everything said before.`,
    consentMissing: 'If the operator may read along, say so with the box above. Otherwise this agent cannot come.',
    noKey: 'Not possible here: it has no encryption key that an invitation could be sealed to.',
    remote: 'This agent runs on its owner’s machine. The invitation is sealed to its key, and no server can open it.',
    leaves: 'When it leaves, this room gets another key. The agent keeps what it has read.',
    present:
      'Keep this room open: only this device lets the agent in, within 30 seconds, and takes it off the list at the end. While the room is not open here, the agent stays on the list and can read along, also after its time.',
    stays: (minutes: number) => `It stays until you send it away, and ${duration(minutes)} at the most.`,
    removing: (name: Part) => line`${name} has left. It is being taken off the list, and the room gets another key…`,
    keyChanged: {
      title: 'This agent has another key now',
      text: 'Nothing was taken from the coupon. Close the catalog, open it again, and invite the agent from there.',
    },
  },
  invited: 'Agents you invited',
  sendAway: (name: (shown: string) => Part, who: string) => line`Send away${name(` ${who}`)}`,
  dismiss: (name: string) => `Dismiss ${isolated(name)}`,
  expired: (name: Part, price: number) => line`${name} has left: its time was up. ${cost(price)}`,
  stopped: (name: Part, price: number) => line`${name} has left. ${cost(price)}`,
  hadToLeave: (name: Part, price: number) => line`${name} had to leave. ${cost(price)}`,
  couldNotCome: (name: Part, price: number) => line`${name} could not come. ${cost(price)}`,
  unreached: (name: Part) => line`${name} could not be sent away. Try again.`,
  leaving: (name: Part) => line`${name} is being sent away…`,
  coming: (name: Part) => line`${name} is coming…`,
  present: (name: Part, time: string) => line`${name} reads along until ${time}`,
  sayComing: (name: string) => `${isolated(name)} is coming`,
  sayHere: (name: string) => `${isolated(name)} is here`,
  sayLeft: (name: string) => `${isolated(name)} has left`,
  sayUnreached: (name: string) => `${isolated(name)} could not be sent away`,
}

function cost(price: number): string {
  return price === 0 ? 'It cost nothing.' : `It cost ${credits(price)}.`
}
