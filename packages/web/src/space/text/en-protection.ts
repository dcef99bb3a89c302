import { isolated, line, number, plural } from './format.ts'
import type { ComponentChildren as Part } from 'preact'

/** What the app checks about a room and its service, and what it found. */
export const protection = {
  title: 'What protects this room',
  stored: 'What is stored',
  storedBy: 'Who stores it',
  trusted: 'What you trust',
  checking: 'Checking…',
  checkAgain: 'Check again',
  failedTitle: (count: number) => plural(count, { one: 'One check failed', other: '# checks failed' }),
  failed: 'Something is not as it should be. Read below what, and write nothing here that matters until it is cleared up.',
  busy: 'Your browser does this by itself, here and now.',
  openTitle: 'Not everything could be checked',
  open: (proved: number, trusted: number, open: number) =>
    `${number(proved)} shown, ${number(trusted)} to be trusted, ${number(open)} open.`,
  provedTitle: (proved: number, trusted: number) => `${number(proved)} things shown, ${number(trusted)} to be trusted`,
  proved: 'Checked by your browser, here and now. Nothing failed.',
  verdicts: { proved: 'Proved', trusted: 'Trusted', failed: 'Failed', unknown: 'Not checked' },
  /** A verdict, and what it is about. */
  found: (verdict: Part, words: string) => line`${verdict}. ${words}`,
  perhapsOffline: 'Perhaps you are offline. Check again in a moment.',
  roomUnreachable: 'The stored bytes could not be fetched',
  certificateUnreachable: 'The service’s certificate could not be fetched',
  acceptKey: 'I know why: expect this key from now on',
  outside: 'From outside',
  outsideHint: 'The same checks, by a program of your own, with the page’s scripts and a rebuild of the source besides:',
  command: 'Command',
  program: (link: (words: string) => Part) =>
    line`The program is one file, with its hash among the ${link('downloads')}. Compare the hash with one from somebody you trust.`,

  running: {
    title: 'The machine runs the build it names',
    text: 'A signature shows who says so, not that it is so. You trust the operator here.',
  },
  memory: {
    title: 'The service forgets your key after each answer',
    text: 'To read or write it needs the key for a moment. Its source shows that the key is never stored; that this source runs, you trust.',
  },
  page: {
    title: 'This page is the published one',
    text: 'A page cannot vouch for itself. The command below checks its scripts, and all of the above, from outside.',
  },
  agents: {
    title: 'Who ran an agent here has forgotten the key',
    text: 'An agent cannot read without the room’s key. Whether it was kept after the agent had gone, nobody can check.',
  },

  bytes: {
    proved: 'What is stored is what the service says it is',
    failed: 'The stored bytes are not those the service speaks of',
    text: (count: number, hash: string) =>
      `${plural(count, { one: '# byte', other: '# bytes' })}, SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: 'Only the room’s key can open it',
    provedText: 'Every line names one recipient: whoever holds the link. There is no key for the operator.',
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
      'Each line holds the hash of the one before, from the first to the last this page was shown, now and on your last visit.',
    failed: 'The history was altered',
    breaks: (line: number) => `The chain breaks at line ${number(line)}.`,
    shorter: 'It does not lead to the line that this browser was shown last.',
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
    first: 'This is the first time that this browser sees the key',
    firstText: (key: string) =>
      `${isolated(key)} is remembered from now on: a change would be noticed. Compare it with what the operator says elsewhere.`,
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
  },
}
