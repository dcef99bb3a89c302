import { isolated, line, number, plural } from './format.ts'
import type { ComponentChildren as Part } from 'preact'

/** The checks of a room and its service, and their results. */
export const protection = {
  title: 'What protects this room',
  stored: 'What is stored',
  storedBy: 'Who stores it',
  trusted: 'What you trust',
  checking: 'Checking…',
  checkAgain: 'Check again',
  failedTitle: (count: number) => plural(count, { one: 'One check failed', other: '# checks failed' }),
  failed: 'Something is wrong. Read below what it is, and write nothing important here until it is resolved.',
  busy: 'Your browser does this itself, here and now.',
  openTitle: 'Not everything could be checked',
  open: (proved: number, trusted: number, open: number) =>
    `${number(proved)} shown, ${number(trusted)} to be trusted, ${number(open)} open.`,
  provedTitle: (proved: number, trusted: number) =>
    `${plural(proved, { one: '# thing shown', other: '# things shown' })}, ${number(trusted)} to be trusted`,
  proved: 'Checked by your browser, here and now. Nothing failed.',
  verdicts: { proved: 'Proved', trusted: 'Trusted', failed: 'Failed', unknown: 'Not checked' },
  /** A verdict, and what it is about. */
  found: (verdict: Part, words: string) => line`${verdict}. ${words}`,
  perhapsOffline: 'Perhaps you are offline. Check again in a moment.',
  roomUnreachable: 'The stored bytes could not be fetched',
  roomUnchecked: 'Whether its lines were altered, and who can open them, is not checked now.',
  certificateUnreachable: 'The service’s certificate could not be fetched',
  certificateUnchecked: 'The service’s key, build, source and public log are not checked now.',
  acceptKey: 'I know why: expect this key from now on',
  outside: 'From outside',
  outsideHint: 'The same checks by a program of your own, which also checks the page’s scripts and rebuilds the source:',
  command: 'Command',
  program: (link: (words: string) => Part) =>
    line`The program is one file, with its hash among the ${link('downloads')}. Compare the hash with one from somebody you trust.`,
  kinds:
    'In other rooms, each request gives the service the key for a moment, so that agents can take part. In this room no agent can.',

  running: {
    title: 'The machine runs the build it names',
    text: 'A signature shows who made a statement, not that it is true. Here you trust the operator.',
  },
  key: {
    title: 'The service never gets your key',
    text: 'This page seals and opens every message itself. It signs its requests with another key, of which the service knows the public part.',
  },
  memory: {
    title: 'The service forgets your key after each answer',
    text: 'It needs the key for a moment to read or write. Its source shows that it never stores the key. You trust that this source is what runs.',
  },
  page: {
    title: 'This page is the published one',
    text: 'A page cannot vouch for itself. The command below checks its scripts, and all of the above, from outside.',
  },
  agents: {
    title: 'Whoever ran an agent here has forgotten the key',
    text: 'An agent needs the room’s key to read. Nobody can check whether the key was kept after the agent left.',
  },

  bytes: {
    proved: 'What is stored is what the service says it is',
    failed: 'The stored bytes are not what the service says they are',
    text: (count: number, hash: string) =>
      `${plural(count, { one: '# byte', other: '# bytes' })}, SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: 'Only the room’s key can open it',
    provedText: 'Every line names one recipient: the holders of the link. There is no key for the operator.',
    directText: 'Every line is sealed with a key that only the link gives. No key is stored beside it.',
    failed: 'Someone else can open it, too',
    failedText: (names: string) => `Further recipients: ${isolated(names)}.`,
  },
  opens: {
    proved: 'Your key opens all of it',
    provedText: (count: number) =>
      plural(count, {
        one: '# sealed line was opened on this device. The key was not sent for that.',
        other: '# sealed lines were opened on this device. The key was not sent for that.',
      }),
    failed: 'Your key does not open all of it',
    failedText: 'At least one stored line is damaged, or was sealed under another key.',
  },
  chain: {
    proved: 'Nothing was altered, left out or put in between',
    provedText:
      'Each line contains the hash of the line before it, from the first to the last that this page was shown, now and on your last visit.',
    failed: 'The history was altered',
    breaks: (line: number) => `The chain breaks at line ${number(line)}.`,
    shorter: 'It does not contain the last line that this browser was shown.',
  },
  seen: {
    title: 'Every author saw this history',
    text: 'Each message names the last line that its author had read, with its hash. All of them are here.',
  },
  shown: {
    proved: 'You were shown what is stored',
    provedText: (count: number) =>
      plural(count, {
        one: '# message on this page was compared with the sealed one, word for word.',
        other: '# messages on this page were compared with the sealed ones, word for word.',
      }),
    failed: 'You were shown something that is not stored',
    failedText: (count: number, first: number) =>
      `${plural(count, { one: '# message differs.', other: '# messages differ.' })} The first is number ${number(first)}.`,
  },
  certificate: {
    proved: 'The build’s certificate is signed',
    failed: 'The build’s certificate is not genuine',
    text: (service: string, commit: string, code: string) =>
      `${isolated(service)}, commit ${isolated(commit)}, code ${isolated(`${code}…`)}`,
  },
  pin: {
    first: 'This browser sees the key for the first time',
    firstText: (key: string) =>
      `${isolated(key)} is remembered from now on, so that this browser notices a change. Compare it with what the operator publishes elsewhere.`,
    same: 'It is the same key as before',
    sameText: (key: string, day: string) => `${isolated(key)}, known to this browser since ${day}.`,
    changed: 'The service’s key has changed',
    changedText: (key: string, day: string) =>
      `Since ${day} it was another one; now it is ${isolated(key)}. Unless the operator announced it, do not write here.`,
  },
  source: {
    proved: 'The published source is the one the certificate names',
    failed: 'The published source is not the one the certificate names',
    text: (kilobytes: number) => `${number(kilobytes)} KB that anyone can read and build.`,
    unreachable: 'The source could not be fetched',
    unreachableText: 'Try again when you are online.',
  },
  attest: {
    proved: 'The running service holds that key, and names the same build',
    provedText: 'It signed a random number that this browser made up just now.',
    failed: 'The running service is not the certified one',
    unsigned: 'Its answer is not signed by the certificate’s key.',
    stale: 'Its answer is an old one.',
    otherBuild: 'It names another build.',
    unreachable: 'The running service did not answer',
    unreachableText: 'Whether it holds that key, and names the same build, is not checked now. Check again in a moment.',
  },

  /** The public log of certificates, pages and keys. */
  log: {
    unreachable: 'The public log could not be reached',
    unreachableText: 'Whether everyone is shown the same certificate and page is not checked now. Check again in a moment.',
    notCompared: 'What you are shown was not compared with the public log',
    broken: 'The public log contradicts itself',
    brokenText: 'A signature or a proof in it is wrong. Do not write here until the operator explains it.',
    first: 'This browser sees the public log for the first time',
    firstText: (entries: number) =>
      `${plural(entries, { one: '# entry', other: '# entries' })}. They are remembered, so that this browser notices if one is removed or changed.`,
    same: 'The public log continues what this browser saw',
    sameText: (before: number, now: number) =>
      `It had ${plural(before, { one: '# entry', other: '# entries' })}, and now has ${number(now)}. None was removed or changed.`,
    rolledBack: 'The public log was rolled back',
    rolledBackText: 'Entries that this browser saw are gone. The operator restored an old copy, or hides something.',
    forked: 'The public log was rewritten',
    forkedText: 'It shows another history than before. Somebody may be shown another certificate than you.',
    other: 'It is another public log',
    otherText: (name: string) => `Its name is now ${isolated(name)}. Unless the operator announced it, do not write here.`,
    has: 'The public log has what you are shown',
    hasText: (epochs: number) =>
      plural(epochs, {
        one: 'Certificate, page and # key of blind tokens, as everyone else sees them.',
        other: 'Certificate, page and # keys of blind tokens, as everyone else sees them.',
      }),
    olderText: (epochs: number) =>
      plural(epochs, { one: '# older key was not compared.', other: '# older keys were not compared.' }),
    unread: 'The keys of blind tokens were not all compared',
    unreadText: 'The service’s list of them is wrong, or was not read to its end. Buy no tokens before they are compared.',
    lacks: 'The public log does not have what you are shown',
    lacksText: (what: string) => `Not in it after two minutes: ${what}. You may be shown something that others are not.`,
    notYet: 'The public log does not have this yet',
    notYetText: (what: string) => `Not in it yet: ${what}. Something new is logged within two minutes. Check again then.`,
    certificate: 'the certificate',
    page: 'this page',
    epoch: 'a key of blind tokens',
    witnessed: 'Others watch the public log',
    witnessedText: (names: string) => `Cosigned by ${isolated(names)}: they saw the same log as you.`,
    fewWitnesses: 'The public log is not witnessed',
    fewWitnessesText: 'It names witnesses, but not enough of them have cosigned it. Check again in a moment.',
    noWitness: 'The public log is not witnessed',
    noWitnessText:
      'Nobody else confirms that everyone sees the same log. You trust the operator for that, or compare with others.',
  },
}
