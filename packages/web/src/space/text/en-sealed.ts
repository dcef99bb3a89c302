import { line } from './format.ts'
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
}
