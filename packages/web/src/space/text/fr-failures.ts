import { isolated, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédit', many: '# de crédits', other: '# crédits' })

export const failures: Text['failures'] = {
  yourAccount: 'Votre compte',
  noAnswer: {
    title: 'Le service ne répond pas',
    text: 'Vous êtes peut-être hors ligne. Rien de ce que vous avez saisi n’est perdu ; réessayez dans un instant.',
  },
  tampered: {
    title: 'Cet historique n’est pas fiable',
    lost: 'Le service n’a plus des lignes qu’il a déjà montrées, ou en a moins qu’il ne le dit.',
    altered: 'Une ligne a été modifiée, déplacée, répétée ou omise. Le service peut l’avoir fait.',
    foreign:
      'Une ligne n’a été écrite par l’application d’aucun membre. Le service ou une personne qui peut écrire ici l’a ajoutée.',
    line: (seq, problem) =>
      `Ligne ${number(seq)} (${isolated(problem)}). Ce qui est affiché des lignes précédentes a passé toutes les vérifications.`,
    endTitle: 'Ce qui est vérifié s’arrête ici',
    end: (seq) =>
      `Les messages ci-dessus ont passé toutes les vérifications, mais pas la ligne ${number(seq)}. Rien de plus n’est donc affiché ou écrit ici.`,
    again: 'Oublier ce que cet appareil a vérifié et relire le salon',
    restored:
      'Si le service a restauré une ancienne sauvegarde, des personnes que vous avez retirées depuis sont peut-être de nouveau sur la liste. Relisez le salon et retirez-les encore une fois avant d’écrire.',
  },
  notOnList: {
    title: 'Vous n’êtes pas sur la liste',
    text: (email) =>
      `${isolated(email)} n’est pas sur la liste de ce salon. Demandez au propriétaire du salon de l’ajouter, ou connectez-vous avec l’adresse qui a été invitée.`,
  },
  revoked: {
    title: 'Vous n’êtes plus sur la liste',
    text: (email) => `${isolated(email)} pouvait entrer dans ce salon, mais le propriétaire du salon l’a retirée depuis.`,
  },
  unknown: {
    title: 'Cela n’a pas fonctionné',
    text: 'Le service a donné une réponse que cette page ne comprend pas. La recharger peut aider.',
  },
  ownerOnly: {
    title: 'Seul le propriétaire peut le faire',
    text: 'Un salon et sa liste appartiennent à la personne qui a créé le salon.',
  },
  badToken: {
    title: 'Votre connexion n’a pas été acceptée',
    text: 'Le service n’a pas pu s’assurer qu’elle est authentique. Se reconnecter suffit en général.',
  },
  badClock: {
    title: 'L’horloge de cet appareil n’est pas à l’heure',
    text: 'Elle s’écarte de plus d’une minute de celle du service. Réglez l’heure de l’appareil.',
  },
  badRoomKey: {
    title: 'Cette clé n’ouvre pas le salon',
    text: 'La dernière partie du lien, après le #, n’est pas la clé de ce salon. Elle a peut-être été coupée ou modifiée lors de la copie : demandez à nouveau le lien.',
  },
  unsigned: {
    title: 'Ce salon a une liste',
    text: 'Seules les personnes de la liste peuvent entrer. Connectez-vous avec l’adresse e-mail qui a été invitée.',
  },
  tokenExpired: {
    title: 'Votre connexion a expiré',
    text: 'Reconnectez-vous pour continuer ; ce que vous avez écrit est conservé.',
  },
  tokenNotYetValid: {
    title: 'Votre connexion est datée du futur',
    text: 'L’une des horloges n’est pas à l’heure, celle de cet appareil ou celle du fournisseur. Réglez l’heure, puis reconnectez-vous.',
  },
  tokenBadAudience: {
    title: 'Cette connexion a été faite pour un autre service',
    text: 'Elle est authentique, mais ne vaut pas pour ce service. Reconnectez-vous ici.',
  },
  tokenBadIssuer: {
    title: 'Cette connexion vient d’ailleurs',
    text: 'Elle a été émise par un fournisseur que ce service ne connaît pas. Reconnectez-vous ici.',
  },
  tokenBadSignature: {
    title: 'Votre connexion n’est pas authentique',
    text: 'Sa signature n’est pas celle du fournisseur d’identité. Reconnectez-vous.',
  },
  tokenMalformed: {
    title: 'Votre connexion est illisible',
    text: 'Ce que le fournisseur d’identité a envoyé est endommagé. Reconnectez-vous.',
  },
  unverifiedEmail: {
    title: 'Votre adresse e-mail n’est pas confirmée',
    text: 'Le fournisseur d’identité n’a pas confirmé que l’adresse est la vôtre. Confirmez-la auprès de lui, puis reconnectez-vous.',
  },
  otherDevice: {
    title: 'Cette connexion appartient à un autre appareil',
    text: 'Une connexion ne vaut que sur l’appareil où elle a été faite. Reconnectez-vous sur celui-ci.',
  },
  unproven: {
    title: 'Ce salon exige que chaque message soit signé',
    text: 'L’appareil sur lequel un message est écrit doit le signer, et ce navigateur n’a pas pu le faire.',
  },
  notFound: {
    title: 'Le service n’a pas ce salon',
    text: 'Son propriétaire l’a supprimé, ou il n’a jamais été créé. Ce qui a été supprimé ne peut pas être récupéré.',
  },
  roomExists: { title: 'Ce salon existe déjà', text: 'Réessayez : chaque salon reçoit un nouveau nom.' },
  tooLarge: {
    title: 'C’est trop',
    text: (kilobytes, messages) =>
      `Un message contient au plus ${number(kilobytes)} Ko, un salon au plus ${number(messages)} messages.`,
  },
  rateLimited: {
    title: 'Un peu moins vite, s’il vous plaît',
    text: 'Trop de requêtes sont venues de votre adresse réseau. La page reprendra d’elle-même dans un instant.',
  },
  listChanged: {
    title: 'La liste a changé entre-temps',
    text: 'Peut-être dans un autre onglet. Regardez-la, puis réessayez.',
  },
  unavailable: {
    title: 'Indisponible pour le moment',
    text: 'Le service ou son fournisseur d’identité a un problème. Réessayez dans un instant.',
  },
  internal: {
    title: 'Le salon n’a pas pu être lu',
    text: 'Le service a rencontré une erreur interne, ou les messages enregistrés ont été modifiés. Il préfère ne rien afficher plutôt que du faux.',
  },
  invalidRequest: {
    title: 'Le service n’a pas accepté cela',
    text: 'La requête n’était pas valable. Recharger la page peut aider.',
  },

  insufficientCredit: {
    title: 'Ce coupon ne suffit pas',
    text: (price) => `Le service ne le connaît pas, ou il y reste moins de ${credits(price)}. Rien n’en a été débité.`,
  },
  priceChanged: {
    title: 'Son prix a changé',
    text: (shown) =>
      `Il coûte désormais plus que le prix affiché (${creditsOrNothing(shown)}). Rien n’a été débité du coupon. Appuyez encore une fois pour l’inviter au nouveau prix.`,
    textNow: (now, shown) =>
      `Il coûte désormais ${creditsOrNothing(now)} au lieu de ${creditsOrNothing(shown)}. Rien n’a été débité du coupon. Appuyez encore une fois pour l’inviter au nouveau prix.`,
  },
  catalog: {
    title: 'Le catalogue n’a pas pu être chargé',
    text: 'Vous êtes peut-être hors ligne. Réessayez dans un instant.',
  },
  uncertain: {
    title: 'Aucune réponse n’est arrivée',
    text: 'L’agent a peut-être été invité malgré tout. Appuyez encore une fois pour le savoir : il ne sera ni invité ni payé deux fois.',
  },
  badKey: {
    title: 'Cette page ne peut plus inviter d’agents',
    text: 'La clé de cette page n’est plus valable. Rechargez la page. Si cela ne suffit pas, adressez-vous à l’exploitant du service.',
  },
  invitingTooFast: {
    title: 'Un peu moins vite, s’il vous plaît',
    text: 'Trop de requêtes sont venues de votre adresse réseau. Réessayez dans un instant.',
  },
  agentGone: {
    title: 'Cet agent ne peut plus être invité',
    text: 'Il a été retiré du catalogue. Rien n’a été débité du coupon.',
  },
  noAgents: {
    title: 'Ce salon ne laisse entrer aucun agent',
    text: 'Le service Space n’accepte pas la preuve d’identité des agents. Adressez-vous à son exploitant. Rien n’a été débité du coupon.',
  },
  agentBadRoomKey: {
    title: 'Cette clé n’ouvre pas le salon',
    text: 'La dernière partie du lien, après le #, n’est pas la clé de ce salon. Demandez à nouveau le lien.',
  },
  agentUnproven: {
    title: 'Ce salon exige que chaque message soit signé',
    text: 'L’agent n’a pas pu le faire. Rien n’a été débité du coupon.',
  },
}

function creditsOrNothing(count: number): string {
  return count === 0 ? 'rien' : credits(count)
}
