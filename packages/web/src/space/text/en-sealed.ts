import { isolated, line, list, plural } from './format.ts'
import type { ComponentChildren as Part } from 'preact'

/** What only rooms have whose lines the clients seal. */
export const sealed = {
  /** The members go on in another room. */
  farewell: {
    title: 'This room has moved',
    said: (name: Part, when: Part) =>
      line`${name} wrote ${when} that everyone goes on in another room. Nothing more can be written here.`,
    unchecked: 'Anyone with this room’s link can write that. If you doubt it, ask the others first.',
    noLink: 'The new link is not given here. Ask one of the others for it.',
    open: 'Open the new room',
    unsent: 'You had not sent this:',
  },

  move: {
    title: 'Give the room a new link',
    hint: 'This makes a new, empty room and says here that everyone goes on there. This room stays readable with the old link, but nothing more can be written in it.',
    who: 'Who gets the new link',
    all: 'Everyone who has the old one',
    allHint: 'They find it here.',
    some: 'Only those to whom you give it',
    someHint: 'Whoever has only the old link stays behind.',
    button: 'Make the new room',
    moving: 'Making the new room…',
  },

  /** A room with a list of devices, whose owner invites. */
  list: {
    choiceHint: 'You invite each of them. The key stays on their devices.',
    withAgents: 'People on a list, and agents',
    withAgentsHint: 'They sign in with their e-mail address. Each request gives the service the key for a moment.',
    yourName: (optional: (word: string) => Part) => line`Your name ${optional('optional')}`,
    addressesHint: 'You then send each of them an invitation. You can also invite people later.',
    head: 'Only people on its list. The key stays with them.',
    empty: 'Under People you find the invitations. Send each one to the person that it is for, and let in who has answered.',
    emptyMember: 'Nobody has written yet. Everyone on the list can read what you write.',
    share: 'This link opens the room only on devices that are on its list. To bring somebody in, send an invitation: see People.',
    members: 'On the list',
    removeHint: 'Whoever is removed reads nothing that is written afterwards: the room gets another key.',
    removeLabel: (who: string) => `Remove ${isolated(who)}?`,
    removeAsk: (who: Part) =>
      line`Remove ${who} from the list? This cannot be undone. The device can come back only by a new invitation, which it has to answer.`,
    removeToo: (who: string) => `These devices, which it has named, are removed with it: ${who}.`,
    removeStays: (who: string) => `These devices of the same person stay on the list: ${who}.`,
    removeInvites: (who: string) => `All open invitations for ${who} are taken back, too.`,
    removeIt: 'Remove it',
    keepIt: 'Keep it',
    addDevice: 'Add a device of yours',
    /** Whom the invitation is for. */
    deviceOf: (name: string) => `${name}, another device`,
    deviceLink: 'Link for your second device',
    deviceHint:
      'Each device has its own keys here. Open this link on your second device. The second device then shows a link to open on this device. Neither link contains a secret.',
    named: 'Second devices',
    kinds:
      'The service does not get this room’s key, unless the owner lets an agent of the service in. Then a line above the messages says so.',
    invitations: 'Invitations',
    unanswered: 'Not answered yet',
    answered: (name: Part, note: string) => line`Answered by ${name}: ${note}`,
    waits: (who: string) => `${isolated(who)} waits to be let in.`,
    letIn: (name: (shown: string) => Part, who: string) => line`Let in${name(` ${who}`)}`,
    notLetIn: 'This address was not shown by a sign-in. Take the invitation back and send another one.',
    noKey: 'The device that has answered cannot receive the key. Take the invitation back and send another one.',
    takeBack: (name: (shown: string) => Part, who: string) => line`Take back${name(` the invitation for ${who}`)}`,
    tookBack: (who: string) => `The invitation for ${isolated(who)} was taken back`,
    takeBackLabel: (who: string) => `Take the invitation for ${isolated(who)} back?`,
    takeBackAsk: (name: Part) => line`${name} has answered it, and would have to answer another invitation to come in.`,
    takeItBack: 'Take it back',
    leaveIt: 'Keep the invitation',
    show: (name: (shown: string) => Part, who: string) => line`Show link${name(` for ${who}`)}`,
    linkFor: (who: string) => `Invitation for ${isolated(who)}`,
    linkHint: 'Send it to this person alone: until it is answered, whoever has it can read the room.',
    invite: 'Invite somebody',
    inviteButton: 'Invite',
    inviteHint: 'By e-mail address. The invitation is a link that you send yourself. The service does not get the address.',
    invited: (count: number) => plural(count, { one: '# invitation is ready', other: '# invitations are ready' }),
    showWho: 'Sign in to show the others your e-mail address. The service does not get it.',
  },

  /** Who a device is, and how that is known. */
  members: {
    and: (who: string, why: string) => `${isolated(who)}, ${isolated(why)}`,
    proven: (email: string, issuer: string) => `${isolated(email)}, shown by ${isolated(issuer)}`,
    provenByOwner: (email: string, issuer: string) =>
      `${isolated(email)}, shown by ${isolated(issuer)} with a key that the owner has kept`,
    owner: 'made the room',
    agent: (id: string) => `${isolated(id)}, invited by the owner for the time of its session`,
    hosted: (id: string) => `${isolated(id)} of this service: its operator can read along`,
    readsAlong: (name: Part) => line`The operator of ${name} can read along in this room. The owner has let the agent in.`,
    invitedAs: (who: string) => `invited as ${isolated(who)}`,
    unsigned: 'without a sign-in',
    unchecked: 'sign-in not checked here',
    revoked: 'no longer on the list',
    otherAddress: 'signed in with another address',
    refused: (reason: string) => `sign-in not valid (${isolated(reason)})`,
    /** The device that has named it. */
    second: (who: string) => `second device, named by ${isolated(who)}`,
  },

  invitation: {
    title: 'You are invited to a room',
    isFor: (who: Part) => line`The invitation is for ${who}.`,
    signInHint:
      'The owner lets you in when you have shown this address. Your sign-in is sealed in the room, where the others can check it. The service of the room does not get it.',
    signedIn: (email: Part) => line`You have signed in as ${email}.`,
    next: 'Then the owner lets this device in. Only this device and this browser can open the room.',
    answer: 'Answer the invitation',
    answering: 'Answering…',
    used: 'This invitation is no longer valid',
    usedHint: 'It was answered, taken back, or copied incompletely. Ask for another one.',
    unkept:
      'This browser does not let the page store the keys of this device, maybe because the window is private. The room would open only until you close this page.',
  },

  /** A second device of a member, which the first one names. */
  secondDevice: {
    waitTitle: 'Is this a second device of yours?',
    waitHint: 'Open this link on your device that is already in the room, or scan it from there. It has no secret in it.',
    firstHint:
      'Then use your device that is already in the room: under People, choose “Add a device of yours”, and open the link that it shows on this device.',
    otherTitle: 'This link is for another device',
    other:
      'The second device made this link for another device: the one whose link it opened. Open this link on that device. To add the second device from here instead, choose “Add a device of yours” under People and open the new link on the second device.',
    code: (code: string) => `Code of this device: ${isolated(code)}`,
    label: 'Link for your first device',
    title: 'Add your second device',
    hint: 'Add it only if this link comes from a device in your own hands, and if that device shows the same code. Then the owner of the room lets it in. It reads what you read, and leaves the room with you.',
    add: 'This is my device',
    adding: 'Adding…',
    done: 'The device was named',
    doneHint: 'The owner of the room lets it in.',
    back: 'Go to the room',
  },
  /** This device has answered an invitation, and the owner has not let it in yet. */
  answered: {
    title: 'The invitation is answered',
    text: 'The room opens here as soon as its owner lets you in. You can also come back later, with the same browser. If it takes long, ask the owner.',
  },
  /** The owner has taken back the invitation that this device has answered. */
  takenBack: {
    title: 'The service no longer accepts the invitation',
    text: 'The service says that the owner has taken the invitation back. To come in, ask the owner for another one.',
  },
  /** The owner can add nobody more. */
  full: {
    title: 'The list is full',
    text: 'It has up to 100 devices and open invitations, and fewer if many invitations are open. Take invitations back, or remove devices.',
  },
  waiting: {
    title: 'The service does not let this device in',
    text: 'If you have answered an invitation, wait here: the room opens as soon as its owner lets you in. Otherwise ask the owner for an invitation.',
  },
  removed: {
    title: 'The service no longer lets this device in',
    text: 'Only the service says so. Perhaps the owner has removed this device. To come back, ask the owner for a new invitation.',
  },

  checks: {
    recipients: 'Only devices on the list get the key',
    recipientsText: (devices: number) =>
      plural(devices, {
        one: 'The newest list seals the key for # device, open invitations included. There is no key for the operator.',
        other: 'The newest list seals the key for # devices, open invitations included. There is no key for the operator.',
      }),
    operator: 'The operator of an agent can read along',
    operatorText: (ids: readonly string[]) =>
      `The newest list gives the key to the operator’s device for ${list(ids)}. The owner has signed that. When the agent leaves, the key changes.`,
    unopened: (count: number) =>
      plural(count, { one: '# line waits for a key of this device.', other: '# lines wait for a key of this device.' }),
    lists: 'The owner has signed every list',
    listsText: (lists: number, changes: number) =>
      `${plural(lists, { one: '# list', other: '# lists' })}, ${plural(changes, { one: '# change of the key', other: '# changes of the key' })}. Nobody left the list without a change.`,
    authors: 'Every message is signed by a device on the list',
    authorsText: (count: number) =>
      plural(count, { one: '# signature was checked here.', other: '# signatures were checked here.' }),
  },
}
