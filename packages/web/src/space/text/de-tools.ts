import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const tools: Text['tools'] = {
  names: {
    claimed: (name) => `${isolated(name)} (Gast)`,
    unverified: (keyName) => `nicht bestätigter Gast, ${isolated(keyName)}`,
    change: 'Namen ändern',
    title: 'Dein Name als Gast',
    hint: 'Niemand prüft ihn. Die anderen sehen, dass er einem Gast gehört, und daneben das Zeichen dieses Geräts.',
    label: 'Name',
    where: 'Wo er gilt',
    inRoom: 'In diesem Raum',
    everywhere: 'In allen Räumen auf diesem Gerät',
    everywhereHint: 'Wer ihn in zwei Räumen liest, kann dich wiedererkennen.',
    save: 'Namen speichern',
    saved: (name) => `Du schreibst als ${isolated(name)}`,
    cleared: 'Du schreibst ohne eigenen Namen',
    notAllowed: 'Ein Name darf kein @ enthalten und nicht „Du“ lauten.',
  },

  messages: {
    actions: 'Aktionen zur Nachricht',
    copy: 'Nachricht kopieren',
    retract: 'Nachricht zurückziehen',
    retractLabel: 'Diese Nachricht zurückziehen?',
    retractHint:
      'Die App verbirgt sie vor allen, die den Raum öffnen. Die gespeicherte Zeile bleibt und ist mit dem Schlüssel des Raums weiterhin lesbar.',
    retractIt: 'Zurückziehen',
    keepIt: 'Behalten',
    hidden: 'Von der Person zurückgezogen, die sie schrieb. Die gespeicherte Zeile bleibt.',
    quoted: 'Eine zurückgezogene Nachricht',
    notice: (name) => line`${name} hat eine Nachricht zurückgezogen.`,
    youNotice: 'Du hast eine Nachricht zurückgezogen.',
    unloaded: (name) => line`${name} möchte eine Nachricht zurückziehen, die hier nicht geladen ist.`,
    spoken: (name) => `${isolated(name)} hat eine Nachricht zurückgezogen`,
    retracting: 'Eine Nachricht wird zurückgezogen',
  },

  file: {
    form: 'Die App in einer Datei',
    link: 'Link eines Raums oder Adresse eines Space-Dienstes',
    hint: 'Räume, die du anlegst, liegen bei diesem Dienst.',
    current: (origin) => line`Neue Räume liegen bei ${origin}.`,
    open: 'Öffnen',
    notLink: 'Das ist weder der ganze Link eines Raums noch die Adresse eines Dienstes.',
    noSignIn: 'Eine Datei kann dich nicht anmelden. Nutze für solche Räume die Seite des Dienstes.',
  },

  kept: {
    title: 'Räume auf diesem Gerät',
    hint: 'Dieser Browser hat die Schlüssel dieser Räume: Wer ihn benutzt, kann sie öffnen.',
    keep: 'Auf diesem Gerät behalten',
    keepHint:
      'Dieser Browser führt den Raum dann auf der Startseite auf, mit seinem Link: Wer diesen Browser benutzt, kann den Raum öffnen.',
    isKept: 'Dieser Browser führt diesen Raum auf der Startseite auf, mit seinem Link.',
    nameLabel: 'Name des Raums, nur für diesen Browser',
    name: 'Raum benennen',
    nameHint: 'Um einen Raum zu benennen, öffne ihn und wähle „Mehr“.',
    startPage: 'Startseite',
    forget: 'Diesen Raum vergessen',
    forgetOne: (name, title) => line`${name(`${title} `)}Vergessen`,
    forgetAll: 'Alle vergessen',
    forgetLabel: (title) => `${isolated(title)} vergessen?`,
    forgetAsk:
      'Der Link wird in diesem Browser gelöscht. Hast du ihn nicht anderswo aufbewahrt, kannst du nicht in den Raum zurück.',
    forgetIt: 'Vergessen',
    keepIt: 'Behalten',
    forgetAllLabel: 'Alle Räume vergessen?',
    forgetAllAsk:
      'Die Links aller dieser Räume werden in diesem Browser gelöscht. In einen Raum, dessen Link du nicht anderswo aufbewahrt hast, kannst du nicht zurück.',
    keepAll: 'Alle behalten',
    saidKept: 'Der Raum bleibt auf diesem Gerät',
    saidForgotten: (title) => `${isolated(title)} ist auf diesem Gerät vergessen`,
    saidAllForgotten: 'Alle Räume sind auf diesem Gerät vergessen',
    opened: (when) => line`Geöffnet: ${when}`,
    othersHint: 'Diese Liste nennt auch einige der anderen Mitglieder.',
    roomWith: (names) => `Raum mit ${names}`,
    more: (count) => plural(count, { one: '# weiteren Person', other: '# weiteren' }),
    refused: 'Dieser Browser lässt die Seite nichts speichern.',
    full: 'Die Liste der Räume auf diesem Gerät ist voll. Vergiss auf der Startseite einen Raum und versuche es dann noch einmal.',
  },

  title: {
    heading: 'Titel',
    label: 'Titel des Raums',
    save: 'Titel ändern',
    changed: (title) => `Der Raum heißt jetzt ${isolated(title)}`,
  },

  qr: {
    show: 'QR-Code anzeigen',
    hide: 'QR-Code ausblenden',
    image: 'QR-Code des Links zum Raum',
    hint: 'Zeige ihn nur denen, die eintreten sollen.',
    tooLong: 'Der Link ist zu lang für einen QR-Code.',
  },

  agents: {
    title: 'Agenten',
    listHint: 'Ein Agent kann teilnehmen, sobald er auf der Liste steht.',
    byId: 'Du kennst die Kennung eines Agenten?',
    buyCoupon: (host) => `Gutschein bei ${isolated(host)} kaufen`,
  },

  spoken: {
    connected: 'Wieder verbunden',
    firstMessage: (name) => `${isolated(name)} schreibt hier zum ersten Mal`,
    earlier: (count) => plural(count, { one: '# frühere Nachricht', other: '# frühere Nachrichten' }),
    sent: 'Nachricht gesendet',
    opened: (title, count) =>
      `${isolated(title)}, ${count === 0 ? 'keine Nachrichten' : plural(count, { one: '# Nachricht', other: '# Nachrichten' })}`,
  },
}
