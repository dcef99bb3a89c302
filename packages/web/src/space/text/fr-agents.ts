import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédit', many: '# de crédits', other: '# crédits' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'Inviter un agent',
  hint: 'Les agents participent à une conversation. Vous les payez avec un coupon.',
  choose: (name, who) => line`Choisir${name(` ${who}`)}`,
  fetchingCatalog: 'Chargement du catalogue…',
  noAgents: 'Il n’y a aucun agent dans le catalogue.',
  fetching: 'Chargement…',
  moreAgents: (count) => plural(count, { one: '# agent de plus', many: '# d’agents de plus', other: '# agents de plus' }),
  all: 'Tous les agents',
  free: 'Gratuit',
  price: (count) => credits(count),
  upTo: (minutes) => `jusqu’à ${duration(minutes)}`,
  rated: (average, count) => `noté ${average} sur 5, ${plural(count, { one: '# avis', many: '# d’avis', other: '# avis' })}`,
  coupon: 'Coupon',
  couponHint: 'Il est transmis au service qui envoie l’agent. Ce navigateur ne le conserve pas.',
  notCoupon: (start, length) =>
    `Ce coupon est incomplet. Un coupon commence par ${isolated(start)} et compte ${number(length)} caractères.`,
  alreadyHere: (name) => `${isolated(name)} est déjà dans ce salon. Rien n’a été débité du coupon.`,
  inviteFree: 'Inviter',
  inviteFor: (price) => `Inviter pour ${credits(price)}`,
  inviting: 'Invitation…',
  notOnList: (name) => line`${name} n’est pas sur la liste de ce salon. Rien n’a été débité du coupon.`,
  letInAndInvite: 'Admettre et inviter',
  ownerCanLetIn: (id) => line`Seul le propriétaire du salon peut l’admettre, par son identifiant : ${id}`,
  terms: {
    title: 'Avant de l’inviter',
    reads: 'Il lit tout ce qui est dans ce salon, depuis le premier message.',
    remote:
      'Cet agent fonctionne sur la machine de son propriétaire, et celui-ci reçoit la clé de ce salon. Une clé ne peut pas être reprise.',
    hosted:
      'Ce service et l’exploitant de l’agent ont la clé de ce salon tant que l’agent est là. Vous devez leur faire confiance pour qu’ils l’oublient ensuite : une clé ne peut pas être reprise.',
    list: 'La liste s’applique toujours : une fois qu’il n’y est plus, l’agent ne peut plus entrer, quelle que soit sa clé.',
    remoteOpen:
      'Une fois que vous l’avez fait sortir, il peut continuer à lire ce salon et à y écrire en tant que visiteur : ce salon laisse entrer quiconque a la clé.',
    sealed: 'Ce qui s’est dit reste scellé dans le stockage pour quiconque n’a pas la clé.',
    stays: (minutes) => `Il reste jusqu’à ce que vous le fassiez sortir dans cet onglet, et ${duration(minutes)} au plus.`,
    costs: (price) => `Il coûte ${credits(price)} dès son arrivée, même s’il repart aussitôt.`,
    whoReads: 'Qui peut lire le salon',
    listedRoom: 'Dans un salon avec liste, l’agent n’entre que tant qu’il y figure, et son séjour se termine avec sa session.',
    makeListed: 'Créer un salon avec liste',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Les agents qui ont leur propre clé peuvent participer : ce dont ils ont besoin est scellé pour cette clé, et le service n’obtient pas la clé de ce salon. Un agent du service peut participer si vous laissez son exploitant lire le salon.',
    hosted: 'Il fonctionne sur ce service : il ne peut venir que si vous laissez l’exploitant lire le salon.',
    operator:
      'Ce service exécute l’agent : l’exploitant du service peut donc tout lire dans ce salon, depuis le premier message, tant que l’agent est là.',
    noticeStays:
      'Tout le monde dans ce salon en est informé. Gardez le salon ouvert : seul cet appareil retire l’agent de la liste à la fin. Tant que le salon n’est pas ouvert ici, l’appareil de l’exploitant reste sur la liste.',
    consent: (name) =>
      line`Je laisse l’exploitant de ce service lire ce salon tant que ${name} est là. Cela comprend tout ce qui a été dit avant.`,
    consentMissing: 'Si l’exploitant peut lire le salon, cochez la case ci-dessus. Sinon, cet agent ne peut pas venir.',
    noKey: 'Impossible ici : il n’a pas de clé de chiffrement pour laquelle sceller une invitation.',
    remote:
      'Cet agent fonctionne sur la machine de son propriétaire. L’invitation est scellée pour la clé de l’agent, et aucun serveur ne peut l’ouvrir.',
    leaves: 'Quand il part, ce salon reçoit une autre clé. L’agent garde ce qu’il a lu.',
    present:
      'Gardez ce salon ouvert : seul cet appareil admet l’agent, dans les 30 secondes, et le retire de la liste à la fin. Tant que le salon n’est pas ouvert ici, l’agent reste sur la liste et peut lire le salon, même une fois son temps écoulé.',
    stays: (minutes: number) => `Il reste jusqu’à ce que vous le fassiez sortir, et ${duration(minutes)} au plus.`,
    removing: (name) => line`${name} est parti. Son retrait de la liste est en cours, et le salon reçoit une autre clé…`,
    keyChanged: {
      title: 'Cet agent a maintenant une autre clé',
      text: 'Rien n’a été débité du coupon. Fermez le catalogue, rouvrez-le, et invitez l’agent à partir de là.',
    },
  },
  invited: 'Agents que vous avez invités',
  sendAway: (name, who) => line`Faire sortir${name(` ${who}`)}`,
  dismiss: (name) => `Masquer ${isolated(name)}`,
  expired: (name, price) => line`${name} est parti : son temps était écoulé. ${cost(price)}`,
  stopped: (name, price) => line`${name} est parti. ${cost(price)}`,
  hadToLeave: (name, price) => line`${name} a dû partir. ${cost(price)}`,
  couldNotCome: (name, price) => line`${name} n’a pas pu venir. ${cost(price)}`,
  unreached: (name) => line`Impossible de faire sortir ${name}. Réessayez.`,
  leaving: (name) => line`Sortie de ${name} en cours…`,
  coming: (name) => line`${name} arrive…`,
  present: (name, time) => line`${name} lit le salon jusqu’à ${time}`,
  sayComing: (name) => `${isolated(name)} arrive`,
  sayHere: (name) => `${isolated(name)} est là`,
  sayLeft: (name) => `${isolated(name)} est parti`,
  sayUnreached: (name) => `Impossible de faire sortir ${isolated(name)}`,
}

function cost(price: number): string {
  return price === 0 ? 'Cela n’a rien coûté.' : `Cela a coûté ${credits(price)}.`
}
