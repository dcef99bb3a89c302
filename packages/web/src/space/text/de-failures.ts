import { isolated, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# Credit', other: '# Credits' })

export const failures: Text['failures'] = {
  yourAccount: 'Dein Konto',
  noAnswer: {
    title: 'Der Dienst antwortet nicht',
    text: 'Vielleicht bist du offline. Nichts, was du eingegeben hast, ist verloren. Versuche es gleich noch einmal.',
  },
  tampered: {
    title: 'Diesem Verlauf ist nicht zu trauen',
    lost: 'Der Dienst hat Zeilen nicht mehr, die er schon gezeigt hat, oder weniger, als er angibt.',
    altered: 'Eine Zeile wurde verändert, verschoben, wiederholt oder weggelassen. Das kann der Dienst getan haben.',
    foreign:
      'Hier steht eine Zeile, die keine App eines Mitglieds geschrieben hat. Der Dienst oder jemand, der hier schreiben kann, hat sie eingefügt.',
    line: (seq, problem) =>
      `Zeile ${number(seq)} (${isolated(problem)}). Was von den Zeilen davor gezeigt wird, hat jede Prüfung bestanden.`,
    endTitle: 'Hier endet, was geprüft ist',
    end: (seq) =>
      `Die Nachrichten darüber haben jede Prüfung bestanden. Zeile ${number(seq)} hat es nicht. Darum wird hier nichts weiter gezeigt oder geschrieben.`,
    again: 'Vergessen, was dieses Gerät geprüft hat, und den Raum neu lesen',
    restored:
      'Wenn der Dienst eine alte Sicherung eingespielt hat, stehen Personen, die du seither entfernt hast, vielleicht wieder auf der Liste. Lies den Raum neu und entferne sie noch einmal, bevor du schreibst.',
  },
  notOnList: {
    title: 'Du stehst nicht auf der Liste',
    text: (email) =>
      `${isolated(email)} steht nicht auf der Liste dieses Raums. Bitte den Inhaber des Raums, sie aufzunehmen, oder melde dich mit der Adresse an, unter der du eingeladen wurdest.`,
  },
  revoked: {
    title: 'Du wurdest von der Liste genommen',
    text: (email) => `${isolated(email)} durfte diesen Raum bisher betreten und wurde inzwischen vom Inhaber des Raums entfernt.`,
  },
  unknown: {
    title: 'Das hat nicht geklappt',
    text: 'Der Dienst hat eine Antwort gegeben, die diese Seite nicht versteht. Vielleicht hilft es, sie neu zu laden.',
  },
  ownerOnly: {
    title: 'Das kann nur der Inhaber',
    text: 'Der Raum und seine Liste gehören der Person, die den Raum angelegt hat.',
  },
  badToken: {
    title: 'Deine Anmeldung wurde nicht akzeptiert',
    text: 'Der Dienst konnte nicht feststellen, ob sie echt ist. Meist hilft es, sich neu anzumelden.',
  },
  badClock: {
    title: 'Die Uhr dieses Geräts geht falsch',
    text: 'Sie weicht um mehr als eine Minute von der des Dienstes ab. Stelle die Uhrzeit des Geräts richtig.',
  },
  badRoomKey: {
    title: 'Dieser Schlüssel öffnet den Raum nicht',
    text: 'Der letzte Teil des Links, nach dem #, ist nicht der Schlüssel dieses Raums. Vielleicht wurde er beim Kopieren abgeschnitten oder verändert: Lass dir den Link noch einmal geben.',
  },
  unsigned: {
    title: 'Dieser Raum hat eine Liste',
    text: 'Nur die Personen darauf dürfen eintreten. Melde dich mit der E-Mail-Adresse an, unter der du eingeladen wurdest.',
  },
  tokenExpired: {
    title: 'Deine Anmeldung ist abgelaufen',
    text: 'Melde dich neu an, um weiterzumachen. Was du geschrieben hast, bleibt erhalten.',
  },
  tokenNotYetValid: {
    title: 'Deine Anmeldung ist auf die Zukunft datiert',
    text: 'Eine der Uhren geht falsch, die dieses Geräts oder die des Anbieters. Stelle die Uhrzeit und melde dich dann neu an.',
  },
  tokenBadAudience: {
    title: 'Diese Anmeldung gilt für einen anderen Dienst',
    text: 'Sie ist echt, gilt aber nicht für diesen Dienst. Melde dich hier neu an.',
  },
  tokenBadIssuer: {
    title: 'Diese Anmeldung kommt von anderswo',
    text: 'Sie stammt von einem Anbieter, den dieser Dienst nicht kennt. Melde dich hier neu an.',
  },
  tokenBadSignature: {
    title: 'Deine Anmeldung ist nicht echt',
    text: 'Ihre Signatur ist nicht die des Identitätsanbieters. Melde dich neu an.',
  },
  tokenMalformed: {
    title: 'Deine Anmeldung ist nicht lesbar',
    text: 'Was der Identitätsanbieter gesendet hat, ist beschädigt. Melde dich neu an.',
  },
  unverifiedEmail: {
    title: 'Deine E-Mail-Adresse ist nicht bestätigt',
    text: 'Der Identitätsanbieter hat nicht bestätigt, dass die Adresse dir gehört. Bestätige sie dort und melde dich dann neu an.',
  },
  otherDevice: {
    title: 'Diese Anmeldung gehört zu einem anderen Gerät',
    text: 'Eine Anmeldung gilt nur auf dem Gerät, auf dem sie erfolgt ist. Melde dich auf diesem neu an.',
  },
  unproven: {
    title: 'In diesem Raum muss jede Nachricht signiert sein',
    text: 'Das Gerät, auf dem eine Nachricht geschrieben wird, muss sie signieren, und dieser Browser konnte das nicht.',
  },
  notFound: {
    title: 'Der Dienst hat keinen solchen Raum',
    text: 'Sein Inhaber hat ihn entfernt, oder er wurde nie angelegt. Was entfernt ist, lässt sich nicht wiederherstellen.',
  },
  roomExists: {
    title: 'Diesen Raum gibt es schon',
    text: 'Versuche es noch einmal: Jeder Raum bekommt einen neuen Namen.',
  },
  tooLarge: {
    title: 'Das ist zu viel',
    text: (kilobytes, messages) =>
      `Eine Nachricht fasst bis zu ${number(kilobytes)} KB, ein Raum bis zu ${number(messages)} Nachrichten.`,
  },
  rateLimited: {
    title: 'Bitte etwas langsamer',
    text: 'Von deiner Netzwerkadresse kamen zu viele Anfragen. Es geht gleich von selbst weiter.',
  },
  listChanged: {
    title: 'Die Liste wurde inzwischen geändert',
    text: 'Vielleicht in einem anderen Tab. Sieh sie dir an und versuche es noch einmal.',
  },
  unavailable: {
    title: 'Gerade nicht verfügbar',
    text: 'Der Dienst oder sein Identitätsanbieter hat ein Problem. Versuche es gleich noch einmal.',
  },
  internal: {
    title: 'Der Raum konnte nicht gelesen werden',
    text: 'Im Dienst ist ein interner Fehler aufgetreten, oder die gespeicherten Nachrichten wurden verändert. Er zeigt lieber nichts als etwas Falsches.',
  },
  invalidRequest: {
    title: 'Der Dienst hat das nicht angenommen',
    text: 'Die Anfrage war nicht gültig. Vielleicht hilft es, die Seite neu zu laden.',
  },

  insufficientCredit: {
    title: 'Dieser Gutschein reicht nicht',
    text: (price) => `Der Dienst kennt ihn nicht, oder es sind weniger als ${credits(price)} darauf. Es wurde nichts abgebucht.`,
  },
  priceChanged: {
    title: 'Der Preis hat sich geändert',
    text: (shown) =>
      `Der Agent kostet jetzt mehr als angezeigt (${creditsOrNothing(shown)}). Vom Gutschein wurde nichts abgebucht. Drücke noch einmal, um ihn zum neuen Preis einzuladen.`,
    textNow: (now, shown) =>
      `Der Agent kostet jetzt ${creditsOrNothing(now)} statt ${creditsOrNothing(shown)}. Vom Gutschein wurde nichts abgebucht. Drücke noch einmal, um ihn zum neuen Preis einzuladen.`,
  },
  catalog: {
    title: 'Der Katalog konnte nicht geladen werden',
    text: 'Vielleicht bist du offline. Versuche es gleich noch einmal.',
  },
  uncertain: {
    title: 'Es kam keine Antwort',
    text: 'Vielleicht wurde der Agent trotzdem eingeladen. Drücke noch einmal, um es herauszufinden: Dabei wird er weder zweimal eingeladen noch zweimal bezahlt.',
  },
  badKey: {
    title: 'Diese Seite kann keine Agenten mehr einladen',
    text: 'Der Schlüssel dieser Seite gilt nicht mehr. Lade die Seite neu. Hilft das nicht, frag den Betreiber des Dienstes.',
  },
  invitingTooFast: {
    title: 'Bitte etwas langsamer',
    text: 'Von deiner Netzwerkadresse kamen zu viele Anfragen. Versuche es gleich noch einmal.',
  },
  agentGone: {
    title: 'Dieser Agent kann nicht mehr eingeladen werden',
    text: 'Er wurde aus dem Katalog genommen. Vom Gutschein wurde nichts abgebucht.',
  },
  noAgents: {
    title: 'Dieser Raum lässt keine Agenten herein',
    text: 'Der Space-Dienst akzeptiert den Identitätsnachweis der Agenten nicht. Frag seinen Betreiber. Vom Gutschein wurde nichts abgebucht.',
  },
  agentBadRoomKey: {
    title: 'Dieser Schlüssel öffnet den Raum nicht',
    text: 'Der letzte Teil des Links, nach dem #, ist nicht der Schlüssel dieses Raums. Lass dir den Link noch einmal geben.',
  },
  agentUnproven: {
    title: 'In diesem Raum muss jede Nachricht signiert sein',
    text: 'Der Agent konnte das nicht. Vom Gutschein wurde nichts abgebucht.',
  },
}

function creditsOrNothing(count: number): string {
  return count === 0 ? 'nichts' : credits(count)
}
