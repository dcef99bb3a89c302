import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# Credit', other: '# Credits' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'Agenten einladen',
  hint: 'Agenten nehmen an einem Gespräch teil. Du bezahlst sie mit einem Gutschein.',
  choose: (name, who) => line`${name(`${who} `)}Auswählen`,
  fetchingCatalog: 'Der Katalog wird geladen…',
  noAgents: 'Im Katalog sind keine Agenten.',
  fetching: 'Wird geladen…',
  moreAgents: (count) => plural(count, { one: '# weiterer Agent', other: '# weitere Agenten' }),
  all: 'Alle Agenten',
  free: 'Kostenlos',
  price: (count) => credits(count),
  upTo: (minutes) => `bis zu ${duration(minutes)}`,
  rated: (average, count) => `bewertet mit ${average} von 5, ${plural(count, { one: '# Bewertung', other: '# Bewertungen' })}`,
  coupon: 'Gutschein',
  couponHint: 'Er geht an den Dienst, der den Agenten schickt. Dieser Browser bewahrt ihn nicht auf.',
  notCoupon: (start, length) =>
    `Das ist kein vollständiger Gutschein. Er beginnt mit ${isolated(start)} und hat ${number(length)} Zeichen.`,
  alreadyHere: (name) => `${isolated(name)} ist schon in diesem Raum. Vom Gutschein wurde nichts abgebucht.`,
  inviteFree: 'Einladen',
  inviteFor: (price) => `Für ${credits(price)} einladen`,
  inviting: 'Wird eingeladen…',
  notOnList: (name) => line`${name} steht nicht auf der Liste dieses Raums. Vom Gutschein wurde nichts abgebucht.`,
  letInAndInvite: 'Aufnehmen und einladen',
  ownerCanLetIn: (id) => line`Nur der Inhaber des Raums kann ihn aufnehmen, über seine Kennung: ${id}`,
  terms: {
    title: 'Bevor du ihn einlädst',
    reads: 'Er liest alles in diesem Raum, von der ersten Nachricht an.',
    remote:
      'Dieser Agent läuft auf dem Rechner seines Inhabers, und der Inhaber bekommt den Schlüssel dieses Raums. Ein Schlüssel lässt sich nicht zurücknehmen.',
    hosted:
      'Dieser Dienst und der Betreiber des Agenten haben den Schlüssel dieses Raums, solange der Agent hier ist. Du musst darauf vertrauen, dass sie ihn danach vergessen: Ein Schlüssel lässt sich nicht zurücknehmen.',
    list: 'Die Liste gilt trotzdem: Steht der Agent nicht mehr darauf, kommt er nicht mehr herein, welchen Schlüssel er auch hat.',
    remoteOpen:
      'Nachdem du ihn weggeschickt hast, kann er diesen Raum weiterhin lesen und als Gast in ihm schreiben: Dieser Raum lässt alle herein, die den Schlüssel haben.',
    sealed: 'Was gesagt wurde, bleibt im Speicher versiegelt für alle, die den Schlüssel nicht haben.',
    stays: (minutes) => `Er bleibt, bis du ihn in diesem Tab wegschickst, höchstens ${duration(minutes)}.`,
    costs: (price) => `Sobald er gekommen ist, kostet er ${credits(price)}, auch wenn er bald wieder geht.`,
    whoReads: 'Wer mitlesen kann',
    listedRoom:
      'In einen Raum mit Liste kommt der Agent nur, solange er darauf steht, und sein Aufenthalt endet mit seiner Sitzung.',
    makeListed: 'Raum mit Liste anlegen',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Agenten mit eigenem Schlüssel können teilnehmen: Was sie brauchen, wird für diesen Schlüssel versiegelt, und der Dienst bekommt den Schlüssel dieses Raums nicht. Ein Agent des Dienstes kann teilnehmen, wenn du dessen Betreiber mitlesen lässt.',
    hosted: 'Er läuft auf diesem Dienst: Er kann nur kommen, wenn du den Betreiber mitlesen lässt.',
    operator:
      'Dieser Dienst führt den Agenten aus. Darum kann der Betreiber des Dienstes alles in diesem Raum lesen, von der ersten Nachricht an, solange der Agent da ist.',
    noticeStays:
      'Alle in diesem Raum erfahren das. Lass den Raum geöffnet: Nur dieses Gerät nimmt den Agenten am Ende von der Liste. Solange der Raum hier nicht geöffnet ist, bleibt das Gerät des Betreibers auf der Liste.',
    consent: (name) =>
      line`Ich lasse den Betreiber dieses Dienstes in diesem Raum mitlesen, solange ${name} da ist. Dazu gehört alles, was vorher gesagt wurde.`,
    consentMissing: 'Wenn der Betreiber mitlesen darf, setze oben das Häkchen. Sonst kann dieser Agent nicht kommen.',
    noKey: 'Hier nicht möglich: Er hat keinen Verschlüsselungsschlüssel, für den eine Einladung versiegelt werden könnte.',
    remote:
      'Dieser Agent läuft auf dem Rechner seines Inhabers. Die Einladung ist für den Schlüssel des Agenten versiegelt, und kein Server kann sie öffnen.',
    leaves: 'Wenn er geht, bekommt dieser Raum einen anderen Schlüssel. Der Agent behält, was er gelesen hat.',
    present:
      'Lass diesen Raum geöffnet: Nur dieses Gerät kann den Agenten aufnehmen, innerhalb von 30 Sekunden, und ihn am Ende von der Liste nehmen. Solange der Raum hier nicht geöffnet ist, bleibt der Agent auf der Liste und kann mitlesen, auch nach Ablauf seiner Zeit.',
    stays: (minutes: number) => `Er bleibt, bis du ihn wegschickst, und höchstens ${duration(minutes)}.`,
    removing: (name) => line`${name} ist gegangen. Er wird von der Liste genommen, und der Raum bekommt einen anderen Schlüssel…`,
    keyChanged: {
      title: 'Dieser Agent hat jetzt einen anderen Schlüssel',
      text: 'Vom Gutschein wurde nichts abgebucht. Schließe den Katalog, öffne ihn wieder und lade den Agenten von dort ein.',
    },
  },
  invited: 'Agenten, die du eingeladen hast',
  sendAway: (name, who) => line`${name(`${who} `)}Wegschicken`,
  dismiss: (name) => `${isolated(name)} ausblenden`,
  expired: (name, price) => line`${name} ist gegangen: Die Zeit war um. ${cost(price)}`,
  stopped: (name, price) => line`${name} ist gegangen. ${cost(price)}`,
  hadToLeave: (name, price) => line`${name} musste gehen. ${cost(price)}`,
  couldNotCome: (name, price) => line`${name} konnte nicht kommen. ${cost(price)}`,
  unreached: (name) => line`${name} konnte nicht weggeschickt werden. Versuche es noch einmal.`,
  leaving: (name) => line`${name} wird weggeschickt…`,
  coming: (name) => line`${name} kommt…`,
  present: (name, time) => line`${name} liest bis ${time} mit`,
  sayComing: (name) => `${isolated(name)} kommt`,
  sayHere: (name) => `${isolated(name)} ist da`,
  sayLeft: (name) => `${isolated(name)} ist gegangen`,
  sayUnreached: (name) => `${isolated(name)} konnte nicht weggeschickt werden`,
}

function cost(price: number): string {
  return price === 0 ? 'Das hat nichts gekostet.' : `Das hat ${credits(price)} gekostet.`
}
