import { line } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'Ce salon a déménagé',
    said: (name, when) =>
      line`${name} a écrit (${when}) que tout le monde continue dans un autre salon. On ne peut plus rien écrire ici.`,
    unchecked: 'Toute personne qui a le lien de ce salon peut écrire cela. En cas de doute, demandez d’abord aux autres.',
    noLink: 'Le nouveau lien n’est pas indiqué ici. Demandez-le à l’une des autres personnes.',
    open: 'Ouvrir le nouveau salon',
    unsent: 'Vous n’aviez pas envoyé ceci :',
  },

  move: {
    title: 'Donner un nouveau lien au salon',
    hint: 'Un nouveau salon vide est créé, et il est indiqué ici que tout le monde continue là-bas. Ce salon reste lisible avec l’ancien lien, mais on ne peut plus y écrire.',
    who: 'Qui reçoit le nouveau lien',
    all: 'Toutes les personnes qui ont l’ancien',
    allHint: 'Elles le trouvent ici.',
    some: 'Seulement celles à qui vous le donnez',
    someHint: 'Qui n’a que l’ancien lien reste en arrière.',
    button: 'Créer le nouveau salon',
    moving: 'Création du nouveau salon…',
  },
}
