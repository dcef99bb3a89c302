import { isolated, line, list, plural } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'Dieser Raum ist umgezogen',
    said: (name, when) =>
      line`${name} hat geschrieben (${when}), dass alle in einem anderen Raum weitermachen. Hier lässt sich nichts mehr schreiben.`,
    unchecked: 'Das können alle schreiben, die den Link dieses Raums haben. Frag im Zweifel zuerst die anderen.',
    noLink: 'Der neue Link steht hier nicht. Frag eine der anderen Personen danach.',
    open: 'Neuen Raum öffnen',
    unsent: 'Das hattest du noch nicht gesendet:',
  },

  move: {
    title: 'Dem Raum einen neuen Link geben',
    hint: 'Damit entsteht ein neuer, leerer Raum, und hier steht dann, dass alle dort weitermachen. Dieser Raum bleibt mit dem alten Link lesbar, aber niemand kann mehr darin schreiben.',
    who: 'Wer den neuen Link bekommt',
    all: 'Alle, die den alten haben',
    allHint: 'Sie finden ihn hier.',
    some: 'Nur, wem du ihn gibst',
    someHint: 'Wer nur den alten Link hat, bleibt zurück.',
    button: 'Neuen Raum anlegen',
    moving: 'Der neue Raum wird angelegt…',
  },

  list: {
    choiceHint: 'Du lädst sie einzeln ein. Der Schlüssel bleibt auf ihren Geräten.',
    withAgents: 'Personen auf einer Liste und Agenten',
    withAgentsHint: 'Sie melden sich mit ihrer E-Mail-Adresse an. Jede Anfrage gibt dem Dienst den Schlüssel für einen Moment.',
    yourName: (optional) => line`Dein Name ${optional('optional')}`,
    addressesHint: 'Du schickst ihnen dann je eine Einladung. Du kannst auch später einladen.',
    head: 'Nur Personen auf der Liste. Der Schlüssel bleibt bei ihnen.',
    empty:
      'Unter „Personen“ findest du die Einladungen. Schick jede an die Person, für die sie ist, und nimm auf, wer geantwortet hat.',
    emptyMember: 'Noch hat niemand etwas geschrieben. Wer auf der Liste steht, kann lesen, was du schreibst.',
    share:
      'Dieser Link öffnet den Raum nur auf Geräten, die auf der Liste stehen. Um jemanden aufzunehmen, schick eine Einladung: siehe „Personen“.',
    members: 'Auf der Liste',
    removeHint: 'Wer entfernt wird, liest nichts, was danach geschrieben wird: Der Raum bekommt einen anderen Schlüssel.',
    removeLabel: (who) => `${isolated(who)} entfernen?`,
    removeAsk: (who) =>
      line`${who} von der Liste entfernen? Das lässt sich nicht rückgängig machen. Das Gerät kommt nur durch eine neue Einladung zurück, die es beantworten muss.`,
    removeToo: (who) => `Mit ihm werden diese Geräte entfernt, die es angegeben hat: ${who}.`,
    removeStays: (who) => `Diese Geräte derselben Person bleiben auf der Liste und lesen weiter: ${who}.`,
    removeInvites: (who) => `Alle offenen Einladungen für ${who} werden auch zurückgenommen.`,
    removeIt: 'Entfernen',
    keepIt: 'Behalten',
    addDevice: 'Eigenes Gerät hinzufügen',
    deviceOf: (name) => `${name}, weiteres Gerät`,
    deviceLink: 'Link für dein zweites Gerät',
    deviceHint:
      'Jedes Gerät hat hier eigene Schlüssel. Öffne diesen Link auf deinem zweiten Gerät. Es zeigt dann einen Link, den du auf diesem Gerät öffnest. Keiner der beiden Links enthält ein Geheimnis.',
    named: 'Zweite Geräte',
    kinds:
      'Der Dienst bekommt den Schlüssel dieses Raums nicht, außer wenn der Inhaber einen Agenten des Dienstes aufnimmt. Dann steht das über den Nachrichten.',
    invitations: 'Einladungen',
    unanswered: 'Noch nicht beantwortet',
    answered: (name, note) => line`Beantwortet von ${name}: ${note}`,
    waits: (who) => `${isolated(who)} wartet darauf, aufgenommen zu werden.`,
    letIn: (name, who) => line`${name(`${who} `)}Aufnehmen`,
    notLetIn: 'Diese Adresse wurde nicht durch eine Anmeldung nachgewiesen. Nimm die Einladung zurück und schick eine andere.',
    noKey:
      'Das Gerät, das geantwortet hat, kann den Schlüssel nicht empfangen. Nimm die Einladung zurück und schick eine andere.',
    takeBack: (name, who) => line`Zurücknehmen${name(` der Einladung für ${who}`)}`,
    tookBack: (who) => `Die Einladung für ${isolated(who)} wurde zurückgenommen`,
    takeBackLabel: (who) => `Die Einladung für ${isolated(who)} zurücknehmen?`,
    takeBackAsk: (name) => line`${name} hat sie beantwortet und müsste eine andere Einladung beantworten, um hereinzukommen.`,
    takeItBack: 'Zurücknehmen',
    leaveIt: 'Behalten',
    show: (name, who) => line`Link anzeigen${name(` für ${who}`)}`,
    linkFor: (who) => `Einladung für ${isolated(who)}`,
    linkHint: 'Schick den Link nur dieser Person: Bis die Einladung beantwortet ist, können alle, die ihn haben, den Raum lesen.',
    invite: 'Jemanden einladen',
    inviteButton: 'Einladen',
    inviteHint:
      'Über die E-Mail-Adresse. Die Einladung ist ein Link, den du selbst schickst. Der Dienst bekommt die Adresse nicht.',
    invited: (count) => plural(count, { one: '# Einladung ist bereit', other: '# Einladungen sind bereit' }),
    showWho: 'Melde dich an, um den anderen deine E-Mail-Adresse zu zeigen. Der Dienst bekommt sie nicht.',
  },

  members: {
    and: (who, why) => `${isolated(who)}, ${isolated(why)}`,
    proven: (email, issuer) => `${isolated(email)}, nachgewiesen durch ${isolated(issuer)}`,
    provenByOwner: (email, issuer) =>
      `${isolated(email)}, nachgewiesen durch ${isolated(issuer)} mit einem Schlüssel, den der Inhaber aufbewahrt hat`,
    owner: 'hat den Raum angelegt',
    agent: (id: string) => `${isolated(id)}, vom Inhaber des Raums für die Dauer seiner Sitzung eingeladen`,
    hosted: (id: string) => `${isolated(id)} dieses Dienstes: Sein Betreiber kann mitlesen`,
    readsAlong: (name) =>
      line`Der Betreiber von ${name} kann in diesem Raum mitlesen. Der Inhaber des Raums hat den Agenten aufgenommen.`,
    invitedAs: (who) => `eingeladen als ${isolated(who)}`,
    unsigned: 'ohne Anmeldung',
    unchecked: 'Anmeldung hier nicht geprüft',
    revoked: 'nicht mehr auf der Liste',
    otherAddress: 'mit einer anderen Adresse angemeldet',
    refused: (reason) => `Anmeldung ungültig (${isolated(reason)})`,
    second: (who) => `zweites Gerät, angegeben von ${isolated(who)}`,
  },

  invitation: {
    title: 'Du bist in einen Raum eingeladen',
    isFor: (who) => line`Die Einladung ist für ${who}.`,
    signInHint:
      'Der Inhaber nimmt dich auf, wenn du diese Adresse nachgewiesen hast. Deine Anmeldung wird im Raum versiegelt, wo die anderen sie prüfen können. Der Dienst des Raums bekommt sie nicht.',
    signedIn: (email) => line`Du bist angemeldet als ${email}.`,
    next: 'Danach nimmt der Inhaber dieses Gerät auf. Nur dieses Gerät mit diesem Browser kann den Raum öffnen.',
    answer: 'Einladung beantworten',
    answering: 'Wird beantwortet…',
    used: 'Diese Einladung gilt nicht mehr',
    usedHint: 'Sie wurde beantwortet, zurückgenommen oder unvollständig kopiert. Bitte um eine neue.',
    unkept:
      'Dieser Browser lässt die Seite die Schlüssel dieses Geräts nicht speichern, vielleicht weil das Fenster privat ist. Der Raum würde sich nur öffnen, bis du diese Seite schließt.',
  },

  secondDevice: {
    waitTitle: 'Ist das ein zweites Gerät von dir?',
    waitHint: 'Öffne diesen Link auf deinem Gerät, das schon im Raum ist, oder scanne ihn damit. Er enthält kein Geheimnis.',
    firstHint:
      'Dann nimm dein Gerät, das schon im Raum ist: Wähle dort unter „Personen“ die Schaltfläche „Eigenes Gerät hinzufügen“ und öffne den Link, den es anzeigt, auf diesem Gerät.',
    otherTitle: 'Dieser Link ist für ein anderes Gerät',
    other:
      'Das zweite Gerät hat diesen Link für ein anderes Gerät erstellt: das Gerät, dessen Link es geöffnet hat. Öffne diesen Link auf jenem Gerät. Wenn du das zweite Gerät stattdessen von hier aus hinzufügen willst, wähle unter „Personen“ die Schaltfläche „Eigenes Gerät hinzufügen“ und öffne den neuen Link auf dem zweiten Gerät.',
    code: (code) => `Code dieses Geräts: ${isolated(code)}`,
    label: 'Link für dein erstes Gerät',
    title: 'Zweites Gerät hinzufügen',
    hint: 'Füge es nur hinzu, wenn dieser Link von einem Gerät kommt, das du selbst in der Hand hast, und jenes Gerät denselben Code anzeigt. Dann nimmt der Inhaber des Raums es auf. Es liest, was du liest, und verlässt den Raum mit dir.',
    add: 'Das ist mein Gerät',
    adding: 'Wird hinzugefügt…',
    done: 'Das Gerät wurde angegeben',
    doneHint: 'Der Inhaber des Raums nimmt es auf.',
    back: 'Zum Raum',
  },
  answered: {
    title: 'Die Einladung ist beantwortet',
    text: 'Der Raum öffnet sich hier, sobald der Inhaber dich aufnimmt. Du kannst auch später wiederkommen, mit demselben Browser. Wenn es lange dauert, frag den Inhaber.',
  },
  takenBack: {
    title: 'Der Dienst nimmt die Einladung nicht mehr an',
    text: 'Der Dienst sagt, dass der Inhaber die Einladung zurückgenommen hat, die dieses Gerät beantwortet hatte. Um hereinzukommen, bitte den Inhaber um eine andere.',
  },
  full: {
    title: 'Die Liste ist voll',
    text: 'Sie fasst bis zu 100 Geräte und offene Einladungen, und weniger, wenn viele Einladungen offen sind. Nimm Einladungen zurück oder entferne Geräte.',
  },
  waiting: {
    title: 'Der Dienst lässt dieses Gerät nicht ein',
    text: 'Wenn du eine Einladung beantwortet hast, warte hier: Der Raum öffnet sich, sobald der Inhaber dich aufnimmt. Sonst bitte ihn um eine Einladung.',
  },
  removed: {
    title: 'Der Dienst lässt dieses Gerät nicht mehr ein',
    text: 'Der Dienst lässt dieses Gerät nicht mehr ein, wie nach einer Entfernung durch den Inhaber. Deshalb liest es nichts Neueres. Nur der Dienst sagt das: Wenn du daran zweifelst, sprich mit dem Inhaber. Um zurückzukommen, bitte ihn um eine neue Einladung.',
  },

  checks: {
    recipients: 'Nur Geräte auf der Liste bekommen den Schlüssel',
    recipientsText: (devices) =>
      plural(devices, {
        one: 'Die neueste Liste versiegelt den Schlüssel für # Gerät, offene Einladungen mitgezählt. Für den Betreiber gibt es keinen.',
        other:
          'Die neueste Liste versiegelt den Schlüssel für # Geräte, offene Einladungen mitgezählt. Für den Betreiber gibt es keinen.',
      }),
    operator: 'Der Betreiber eines Agenten kann mitlesen',
    operatorText: (ids) =>
      `Die neueste Liste gibt den Schlüssel dem Gerät des Betreibers für ${list(ids)}. Der Inhaber hat das signiert. Wenn der Agent geht, wechselt der Schlüssel.`,
    unopened: (count) =>
      plural(count, {
        one: '# Zeile wartet auf einen Schlüssel dieses Geräts.',
        other: '# Zeilen warten auf einen Schlüssel dieses Geräts.',
      }),
    lists: 'Der Inhaber hat jede Liste signiert',
    listsText: (lists, changes) =>
      `${plural(lists, { one: '# Liste', other: '# Listen' })}, ${plural(changes, { one: '# Wechsel des Schlüssels', other: '# Wechsel des Schlüssels' })}. Niemand hat die Liste ohne Wechsel verlassen.`,
    authors: 'Jede Nachricht ist von einem Gerät auf der Liste signiert',
    authorsText: (count) => plural(count, { one: '# Signatur wurde hier geprüft.', other: '# Signaturen wurden hier geprüft.' }),
  },
}
