import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const tools: Text['tools'] = {
  names: {
    claimed: (name) => `${isolated(name)} (visiteur)`,
    unverified: (keyName) => `visiteur non vérifié, ${isolated(keyName)}`,
    change: 'Changer de nom',
    title: 'Votre nom de visiteur',
    hint: 'Personne ne le vérifie. Les autres voient que c’est celui d’un visiteur et, à côté, le signe de cet appareil.',
    label: 'Nom',
    where: 'Où l’utiliser',
    inRoom: 'Dans ce salon',
    everywhere: 'Dans tous les salons sur cet appareil',
    everywhereHint: 'Les personnes qui le voient dans deux salons peuvent vous reconnaître.',
    save: 'Enregistrer le nom',
    saved: (name) => `Vous écrivez en tant que ${isolated(name)}`,
    cleared: 'Vous écrivez sans nom choisi',
    notAllowed: 'Un nom ne peut ni contenir de @ ni être « Vous ».',
  },

  messages: {
    actions: 'Actions du message',
    copy: 'Copier le message',
    retract: 'Retirer le message',
    retractLabel: 'Retirer ce message ?',
    retractHint:
      'L’application le cache à toute personne qui ouvre le salon. Sa ligne enregistrée reste, et la clé du salon permet encore de la lire.',
    retractIt: 'Le retirer',
    keepIt: 'Le garder',
    hidden: 'Retiré par son auteur. La ligne enregistrée reste.',
    quoted: 'Un message retiré',
    notice: (name) => line`${name} a retiré un message.`,
    youNotice: 'Vous avez retiré un message.',
    unloaded: (name) => line`${name} demande à retirer un message qui n’est pas chargé ici.`,
    spoken: (name) => `${isolated(name)} a retiré un message`,
    retracting: 'Retrait d’un message',
  },

  file: {
    form: 'L’application en un seul fichier',
    link: 'Lien d’un salon ou adresse d’un service Space',
    hint: 'Les salons que vous créez sont enregistrés sur ce service.',
    current: (origin) => line`Les nouveaux salons sont enregistrés sur ${origin}.`,
    open: 'Ouvrir',
    notLink: 'Ce n’est ni le lien complet d’un salon ni l’adresse d’un service.',
    noSignIn: 'Un fichier ne peut pas vous connecter. Pour ces salons, utilisez la page du service.',
  },

  kept: {
    title: 'Salons sur cet appareil',
    hint: 'Ce navigateur a les clés de ces salons : quiconque l’utilise peut les ouvrir.',
    keep: 'Garder sur cet appareil',
    keepHint:
      'Ce navigateur affiche alors le salon sur la page d’accueil, avec son lien : quiconque utilise ce navigateur peut ouvrir le salon.',
    isKept: 'Ce navigateur affiche ce salon sur la page d’accueil, avec son lien.',
    nameLabel: 'Nom du salon, pour ce navigateur seulement',
    name: 'Nommer le salon',
    nameHint: 'Pour nommer un salon, ouvrez-le et choisissez « Plus ».',
    startPage: 'Page d’accueil',
    forget: 'Oublier ce salon',
    forgetOne: (name, title) => line`Oublier${name(` ${title}`)}`,
    forgetAll: 'Tout oublier',
    forgetLabel: (title) => `Oublier ${isolated(title)} ?`,
    forgetAsk:
      'Le lien est effacé de ce navigateur. Si vous ne l’avez pas conservé ailleurs, vous ne pourrez pas revenir dans le salon.',
    forgetIt: 'L’oublier',
    keepIt: 'Le garder',
    forgetAllLabel: 'Oublier tous les salons ?',
    forgetAllAsk:
      'Les liens de tous ces salons sont effacés de ce navigateur. Vous ne pourrez pas revenir dans un salon dont vous n’avez pas conservé le lien ailleurs.',
    keepAll: 'Les garder',
    saidKept: 'Le salon est gardé sur cet appareil',
    saidForgotten: (title) => `${isolated(title)} est oublié sur cet appareil`,
    saidAllForgotten: 'Tous les salons sont oubliés sur cet appareil',
    opened: (when) => line`Dernière ouverture : ${when}`,
    othersHint: 'Cette liste nomme aussi quelques-uns des autres membres.',
    roomWith: (names) => `Salon avec ${names}`,
    more: (count) => plural(count, { one: '# autre', many: '# autres', other: '# autres' }),
    refused: 'Ce navigateur ne permet pas à la page d’enregistrer quoi que ce soit.',
    full: 'La liste des salons sur cet appareil est pleine. Oubliez un salon sur la page d’accueil, puis réessayez.',
  },

  title: {
    heading: 'Titre',
    label: 'Le titre du salon',
    save: 'Changer le titre',
    changed: (title) => `Le salon s’appelle maintenant ${isolated(title)}`,
  },

  qr: {
    show: 'Afficher le code QR',
    hide: 'Masquer le code QR',
    image: 'Code QR du lien du salon',
    hint: 'Ne le montrez qu’aux personnes qui doivent entrer.',
    tooLong: 'Le lien est trop long pour un code QR.',
  },

  agents: {
    title: 'Agents',
    listHint: 'Un agent peut participer dès qu’il est sur la liste.',
    byId: 'Vous connaissez l’identifiant d’un agent ?',
    buyCoupon: (host) => `Acheter un coupon sur ${isolated(host)}`,
  },

  spoken: {
    connected: 'Connexion rétablie',
    firstMessage: (name) => `${isolated(name)} écrit ici pour la première fois`,
    earlier: (count) =>
      plural(count, { one: '# message précédent', many: '# de messages précédents', other: '# messages précédents' }),
    sent: 'Message envoyé',
    opened: (title, count) =>
      `${isolated(title)}, ${count === 0 ? 'aucun message' : plural(count, { one: '# message', many: '# de messages', other: '# messages' })}`,
  },
}
