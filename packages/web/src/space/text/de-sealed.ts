import { line } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'Dieser Raum ist umgezogen',
    said: (name, when) =>
      line`${name} hat geschrieben (${when}), dass alle in einem anderen Raum weitermachen. Hier lässt sich nichts mehr schreiben.`,
    unchecked: 'Das kann jeder schreiben, der den Link dieses Raums hat. Frag im Zweifel zuerst die anderen.',
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
}
