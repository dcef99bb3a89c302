import { isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

export const protection: Text['protection'] = {
  title: 'Was diesen Raum schützt',
  stored: 'Was gespeichert ist',
  storedBy: 'Wer es speichert',
  trusted: 'Worauf du vertraust',
  checking: 'Wird geprüft…',
  checkAgain: 'Noch einmal prüfen',
  failedTitle: (count) => plural(count, { one: 'Eine Prüfung ist fehlgeschlagen', other: '# Prüfungen sind fehlgeschlagen' }),
  failed: 'Etwas stimmt nicht. Lies unten, was es ist, und schreibe hier nichts Wichtiges, bis es geklärt ist.',
  busy: 'Das macht dein Browser selbst, hier und jetzt.',
  openTitle: 'Nicht alles konnte geprüft werden',
  open: (proved, trusted, open) =>
    `Nachgewiesen: ${number(proved)}, Vertrauen nötig: ${number(trusted)}, offen: ${number(open)}.`,
  provedTitle: (proved, trusted) => `${number(proved)} nachgewiesen, bei ${number(trusted)} ist Vertrauen nötig`,
  proved: 'Von deinem Browser geprüft, hier und jetzt. Nichts ist fehlgeschlagen.',
  verdicts: { proved: 'Nachgewiesen', trusted: 'Vertrauen nötig', failed: 'Fehlgeschlagen', unknown: 'Nicht geprüft' },
  found: (verdict, words) => line`${verdict}. ${words}`,
  perhapsOffline: 'Vielleicht bist du offline. Prüfe es gleich noch einmal.',
  roomUnreachable: 'Die gespeicherten Bytes konnten nicht geladen werden',
  roomUnchecked: 'Ob Zeilen verändert wurden und wer sie öffnen kann, ist jetzt nicht geprüft.',
  certificateUnreachable: 'Das Zertifikat des Dienstes konnte nicht geladen werden',
  certificateUnchecked: 'Schlüssel, Build, Quelltext und öffentliches Protokoll des Dienstes sind jetzt nicht geprüft.',
  acceptKey: 'Ich weiß, warum: diesen Schlüssel ab jetzt erwarten',
  outside: 'Von außen',
  outsideHint: 'Dieselben Prüfungen mit einem eigenen Programm, das auch die Skripte der Seite prüft und den Quelltext neu baut:',
  command: 'Befehl',
  program: (link) =>
    line`Das Programm ist eine einzige Datei. Ihr Hash steht bei den ${link('Downloads')}. Vergleiche ihn mit dem Hash von jemandem, dem du vertraust.`,
  kinds:
    'In anderen Räumen gibt jede Anfrage dem Dienst den Schlüssel für einen Moment, damit Agenten teilnehmen können. In diesem Raum kann es keiner.',

  running: {
    title: 'Auf dem Server läuft der Build, den er nennt',
    text: 'Eine Signatur zeigt, wer das sagt, nicht, dass es stimmt. Hier vertraust du dem Betreiber.',
  },
  key: {
    title: 'Der Dienst bekommt deinen Schlüssel nie',
    text: 'Diese Seite versiegelt und öffnet jede Nachricht selbst. Ihre Anfragen signiert sie mit einem anderen Schlüssel, dessen öffentlichen Teil der Dienst kennt.',
  },
  memory: {
    title: 'Der Dienst vergisst deinen Schlüssel nach jeder Antwort',
    text: 'Zum Lesen und Schreiben braucht er den Schlüssel für einen Moment. Sein Quelltext zeigt, dass er ihn nie speichert. Du vertraust darauf, dass dieser Quelltext läuft.',
  },
  page: {
    title: 'Diese Seite ist die veröffentlichte',
    text: 'Eine Seite kann nicht für sich selbst bürgen. Der Befehl unten prüft von außen ihre Skripte und alles, was oben steht.',
  },
  agents: {
    title: 'Wer hier einen Agenten betrieb, hat den Schlüssel vergessen',
    text: 'Ohne den Schlüssel des Raums kann ein Agent nicht lesen. Ob der Schlüssel behalten wurde, nachdem der Agent gegangen ist, kann niemand prüfen.',
  },

  bytes: {
    proved: 'Gespeichert ist, was der Dienst angibt',
    failed: 'Die gespeicherten Bytes sind nicht die, die der Dienst angibt',
    text: (count, hash) => `${plural(count, { one: '# Byte', other: '# Byte' })}, SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: 'Nur der Schlüssel des Raums öffnet es',
    provedText: 'Jede Zeile nennt einen Empfänger: wer den Link hat. Für den Betreiber gibt es keinen Schlüssel.',
    directText: 'Jede Zeile ist mit einem Schlüssel versiegelt, den nur der Link ergibt. Daneben ist kein Schlüssel gespeichert.',
    failed: 'Noch jemand kann es öffnen',
    failedText: (names) => `Weitere Empfänger: ${isolated(names)}.`,
  },
  opens: {
    proved: 'Dein Schlüssel öffnet alles',
    provedText: (count) =>
      plural(count, {
        one: '# versiegelte Zeile wurde auf diesem Gerät geöffnet. Der Schlüssel wurde dafür nicht gesendet.',
        other: '# versiegelte Zeilen wurden auf diesem Gerät geöffnet. Der Schlüssel wurde dafür nicht gesendet.',
      }),
    failed: 'Dein Schlüssel öffnet nicht alles',
    failedText: 'Mindestens eine gespeicherte Zeile ist beschädigt oder wurde mit einem anderen Schlüssel versiegelt.',
  },
  chain: {
    proved: 'Nichts wurde verändert, weggelassen oder eingefügt',
    provedText:
      'Jede Zeile enthält den Hash der vorigen, von der ersten bis zur letzten, die dieser Seite jetzt und bei deinem letzten Besuch gezeigt wurde.',
    failed: 'Der Verlauf wurde verändert',
    breaks: (line) => `Die Kette bricht in Zeile ${number(line)}.`,
    shorter: 'Er enthält die letzte Zeile nicht, die diesem Browser gezeigt wurde.',
  },
  seen: {
    title: 'Alle, die geschrieben haben, sahen diesen Verlauf',
    text: 'Jede Nachricht nennt die letzte Zeile, die beim Schreiben gelesen war, mit ihrem Hash. Alle diese Zeilen sind hier.',
  },
  shown: {
    proved: 'Dir wurde gezeigt, was gespeichert ist',
    provedText: (count) =>
      plural(count, {
        one: '# Nachricht dieser Seite wurde Wort für Wort mit der versiegelten verglichen.',
        other: '# Nachrichten dieser Seite wurden Wort für Wort mit den versiegelten verglichen.',
      }),
    failed: 'Dir wurde etwas gezeigt, das nicht gespeichert ist',
    failedText: (count, first) =>
      `${plural(count, { one: '# Nachricht weicht ab.', other: '# Nachrichten weichen ab.' })} Die erste hat die Nummer ${number(first)}.`,
  },
  certificate: {
    proved: 'Das Zertifikat des Builds ist signiert',
    failed: 'Das Zertifikat des Builds ist nicht echt',
    text: (service, commit, code) => `${isolated(service)}, Commit ${isolated(commit)}, Code ${isolated(`${code}…`)}`,
  },
  pin: {
    first: 'Dieser Browser sieht den Schlüssel zum ersten Mal',
    firstText: (key) =>
      `${isolated(key)} ist ab jetzt gespeichert, damit dieser Browser eine Änderung bemerkt. Vergleiche den Schlüssel mit dem, was der Betreiber anderswo veröffentlicht.`,
    same: 'Es ist derselbe Schlüssel wie zuvor',
    sameText: (key, day) => `${isolated(key)}, diesem Browser bekannt seit ${day}.`,
    changed: 'Der Schlüssel des Dienstes hat sich geändert',
    changedText: (key, day) =>
      `Seit ${day} war es ein anderer, jetzt ist es ${isolated(key)}. Schreibe hier nichts, es sei denn, der Betreiber hat den Wechsel angekündigt.`,
  },
  source: {
    proved: 'Der veröffentlichte Quelltext ist der, den das Zertifikat nennt',
    failed: 'Der veröffentlichte Quelltext ist nicht der, den das Zertifikat nennt',
    text: (kilobytes) => `${number(kilobytes)} KB, die alle lesen und bauen können.`,
    unreachable: 'Der Quelltext konnte nicht geladen werden',
    unreachableText: 'Versuche es noch einmal, wenn du online bist.',
  },
  attest: {
    proved: 'Der laufende Dienst hat diesen Schlüssel und nennt denselben Build',
    provedText: 'Er hat eine Zufallszahl signiert, die dieser Browser gerade erzeugt hat.',
    failed: 'Der laufende Dienst ist nicht der zertifizierte',
    unsigned: 'Seine Antwort ist nicht mit dem Schlüssel des Zertifikats signiert.',
    stale: 'Seine Antwort ist eine alte.',
    otherBuild: 'Er nennt einen anderen Build.',
    unreachable: 'Der laufende Dienst hat nicht geantwortet',
    unreachableText:
      'Ob er diesen Schlüssel hat und denselben Build nennt, ist jetzt nicht geprüft. Prüfe es gleich noch einmal.',
  },
  log: {
    unreachable: 'Das öffentliche Protokoll ist nicht erreichbar',
    unreachableText:
      'Ob allen dasselbe Zertifikat und dieselbe Seite gezeigt wird, ist jetzt nicht geprüft. Prüfe gleich noch einmal.',
    notCompared: 'Was dir gezeigt wird, wurde nicht mit dem öffentlichen Protokoll verglichen',
    broken: 'Das öffentliche Protokoll widerspricht sich',
    brokenText: 'Eine Signatur oder ein Beweis darin ist falsch. Schreibe hier nichts, bis der Betreiber es erklärt.',
    first: 'Dieser Browser sieht das öffentliche Protokoll zum ersten Mal',
    firstText: (entries: number) =>
      `${plural(entries, { one: '# Eintrag', other: '# Einträge' })}. Sie sind gespeichert, damit dieser Browser bemerkt, wenn einer entfernt oder geändert wird.`,
    same: 'Das öffentliche Protokoll setzt fort, was dieser Browser gesehen hat',
    sameText: (before: number, now: number) =>
      `Es hatte ${plural(before, { one: '# Eintrag', other: '# Einträge' })} und hat jetzt ${number(now)}. Keiner wurde entfernt oder geändert.`,
    rolledBack: 'Das öffentliche Protokoll wurde zurückgesetzt',
    rolledBackText:
      'Einträge, die dieser Browser gesehen hat, fehlen. Der Betreiber hat eine alte Kopie eingespielt oder verbirgt etwas.',
    forked: 'Das öffentliche Protokoll wurde umgeschrieben',
    forkedText: 'Es zeigt einen anderen Verlauf als zuvor. Vielleicht wird anderen ein anderes Zertifikat gezeigt als dir.',
    other: 'Es ist ein anderes öffentliches Protokoll',
    otherText: (name: string) =>
      `Es heißt jetzt ${isolated(name)}. Schreibe hier nichts, es sei denn, der Betreiber hat das angekündigt.`,
    has: 'Das öffentliche Protokoll enthält, was dir gezeigt wird',
    hasText: (epochs: number) =>
      plural(epochs, {
        one: 'Zertifikat, Seite und # Schlüssel für blinde Token, wie alle anderen sie sehen.',
        other: 'Zertifikat, Seite und # Schlüssel für blinde Token, wie alle anderen sie sehen.',
      }),
    olderText: (epochs: number) =>
      plural(epochs, {
        one: '# älterer Schlüssel wurde nicht verglichen.',
        other: '# ältere Schlüssel wurden nicht verglichen.',
      }),
    unread: 'Nicht alle Schlüssel für blinde Token wurden verglichen',
    unreadText:
      'Ihre Liste ist fehlerhaft oder wurde nicht bis zum Ende gelesen. Kaufe keine Token, bevor die Schlüssel verglichen sind.',
    lacks: 'Das öffentliche Protokoll enthält nicht, was dir gezeigt wird',
    lacksText: (what: string) =>
      `Nach zwei Minuten nicht darin: ${what}. Vielleicht wird dir etwas gezeigt, was andere nicht sehen.`,
    notYet: 'Das öffentliche Protokoll enthält dies noch nicht',
    notYetText: (what: string) =>
      `Noch nicht darin: ${what}. Neues wird innerhalb von zwei Minuten eingetragen. Prüfe es dann noch einmal.`,
    certificate: 'das Zertifikat',
    page: 'diese Seite',
    epoch: 'ein Schlüssel für blinde Token',
    witnessed: 'Andere überwachen das öffentliche Protokoll',
    witnessedText: (names: string) => `Mitsigniert von ${isolated(names)}: Sie haben dasselbe Protokoll gesehen wie du.`,
    fewWitnesses: 'Das öffentliche Protokoll ist nicht von Zeugen bestätigt',
    fewWitnessesText: 'Es nennt Zeugen, aber nicht genug von ihnen haben es mitsigniert. Prüfe gleich noch einmal.',
    noWitness: 'Das öffentliche Protokoll ist nicht von Zeugen bestätigt',
    noWitnessText:
      'Niemand sonst bestätigt, dass alle dasselbe Protokoll sehen. Dafür vertraust du dem Betreiber, oder du vergleichst mit anderen.',
  },
}
