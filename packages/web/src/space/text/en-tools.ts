import { isolated, line, plural } from './format.ts'
import type { ComponentChildren as Part } from 'preact'

/** What a visitor can do in a room besides reading and writing. */
export const tools = {
  names: {
    /** A guest's name, which nobody verified. It is never shown without that note. */
    claimed: (name: string) => `${isolated(name)} (guest)`,
    /** The name derived from the key of a guest's device, shown beside the claimed one. */
    unverified: (keyName: string) => `unverified guest, ${isolated(keyName)}`,
    change: 'Change name',
    title: 'Your name as a guest',
    hint: 'Nobody checks it. The others see that it is a guest’s name, and the sign of this device beside it.',
    label: 'Name',
    where: 'Where to use it',
    inRoom: 'In this room',
    everywhere: 'In all rooms on this device',
    everywhereHint: 'People who see it in two rooms may recognise you.',
    save: 'Save name',
    saved: (name: string) => `You write as ${isolated(name)}`,
    cleared: 'You write without a name of your own',
    notAllowed: 'A name must not contain @ or be “You”.',
  },

  messages: {
    actions: 'Message actions',
    copy: 'Copy message',
    retract: 'Retract message',
    retractLabel: 'Retract this message?',
    retractHint:
      'The app hides it from everyone who opens the room. Its stored line remains, and with the room’s key it can still be read.',
    retractIt: 'Retract it',
    keepIt: 'Keep it',
    hidden: 'Retracted by its author. The stored line remains.',
    quoted: 'A retracted message',
    notice: (name: Part) => line`${name} retracted a message.`,
    youNotice: 'You retracted a message.',
    unloaded: (name: Part) => line`${name} asks to retract a message that is not loaded here.`,
    spoken: (name: string) => `${isolated(name)} retracted a message`,
    retracting: 'Retracting a message',
  },

  file: {
    form: 'The app in one file',
    link: 'Link of a room, or address of a Space service',
    hint: 'Rooms that you make are stored at that service.',
    current: (origin: Part) => line`New rooms are stored at ${origin}.`,
    open: 'Open',
    notLink: 'This is neither the whole link of a room nor the address of a service.',
    noSignIn: 'A file cannot sign you in. Use the page of the service for such rooms.',
  },

  kept: {
    title: 'Rooms on this device',
    hint: 'This browser has the keys of these rooms: everyone who uses it can open them.',
    keep: 'Keep on this device',
    keepHint:
      'This browser then lists the room on the start page, with its link: everyone who uses this browser can open the room.',
    isKept: 'This browser lists this room on the start page, with its link.',
    nameLabel: 'Name of the room, for this browser only',
    name: 'Name the room',
    nameHint: 'To name a room, open it and choose More.',
    startPage: 'Start page',
    forget: 'Forget this room',
    forgetOne: (name: (shown: string) => Part, title: string) => line`Forget${name(` ${title}`)}`,
    forgetAll: 'Forget all',
    forgetLabel: (title: string) => `Forget ${isolated(title)}?`,
    forgetAsk: 'The link is deleted from this browser. If you have not kept it elsewhere, you cannot come back to the room.',
    forgetIt: 'Forget it',
    keepIt: 'Keep it',
    forgetAllLabel: 'Forget all rooms?',
    forgetAllAsk:
      'The links of all these rooms are deleted from this browser. You cannot come back to a room whose link you have not kept elsewhere.',
    keepAll: 'Keep them',
    saidKept: 'The room is kept on this device',
    saidForgotten: (title: string) => `${isolated(title)} is forgotten on this device`,
    saidAllForgotten: 'All rooms are forgotten on this device',
    opened: (when: Part) => line`Opened ${when}`,
    othersHint: 'This list also names some of the other members.',
    /** `names`: a list in words, whose last part may be `more`. */
    roomWith: (names: string) => `Room with ${names}`,
    more: (count: number) => plural(count, { one: '# other', other: '# others' }),
    refused: 'This browser does not let the page store anything.',
    full: 'The list of rooms on this device is full. Forget a room on the start page, then try again.',
  },

  title: {
    heading: 'Title',
    label: 'The room’s title',
    save: 'Change title',
    changed: (title: string) => `The room is now called ${isolated(title)}`,
  },

  qr: {
    show: 'Show QR code',
    hide: 'Hide QR code',
    image: 'QR code of the room’s link',
    hint: 'Show it only to people who should come in.',
    tooLong: 'The link is too long for a QR code.',
  },

  agents: {
    /** Under which people find what concerns agents. */
    title: 'Agents',
    listHint: 'An agent can take part once it is on the list.',
    byId: 'You know an agent’s id?',
    buyCoupon: (host: string) => `Buy a coupon at ${isolated(host)}`,
  },

  spoken: {
    connected: 'Connected again',
    firstMessage: (name: string) => `${isolated(name)} writes here for the first time`,
    earlier: (count: number) => plural(count, { one: '# earlier message', other: '# earlier messages' }),
    sent: 'Message sent',
    opened: (title: string, count: number) =>
      `${isolated(title)}, ${count === 0 ? 'no messages' : plural(count, { one: '# message', other: '# messages' })}`,
  },
}
