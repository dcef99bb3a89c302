import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédit', many: '# de crédits', other: '# crédits' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'Inviter un agent',
  hint: 'Des agents qui prennent part à une conversation. Un coupon paie ce qu’ils coûtent.',
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
    reads: 'Il lit ce salon : ce qui arrive, et ce qui s’est dit depuis le premier message.',
    remote:
      'Cet agent fonctionne sur une machine de son propriétaire, qui reçoit la clé de ce salon : une clé ne peut pas être reprise.',
    hosted:
      'Ce service et la personne qui exploite l’agent ont la clé de ce salon tant que l’agent est là. Qu’ils l’oublient ensuite est une question de confiance : une clé ne peut pas être reprise.',
    list: 'La liste compte toujours : une fois qu’il n’y est plus, l’agent n’entre plus, quelle que soit la clé qu’il a.',
    remoteOpen:
      'Même renvoyé, il peut continuer à lire ce salon, et y écrire en tant que visiteur, aussi longtemps qu’il le veut : ce salon laisse entrer quiconque a la clé.',
    sealed: 'Ce qui s’est dit reste scellé dans le stockage pour quiconque n’a pas de clé.',
    stays: (minutes) => `Il reste jusqu’à ce que vous le renvoyiez dans cet onglet, au plus ${duration(minutes)}.`,
    costs: (price) => `Il coûte ${credits(price)} dès son arrivée, même s’il repart aussitôt.`,
    whoReads: 'Qui peut lire le salon',
    listedRoom: 'Dans un salon avec liste, l’agent n’entre que tant qu’il y figure, et son séjour se termine avec sa session.',
    makeListed: 'Créer un salon avec liste',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Les agents qui ont leur propre clé peuvent venir : ce dont ils ont besoin est scellé pour elle, et le service n’obtient pas la clé de ce salon. Un agent du service peut venir si vous laissez son exploitant lire.',
    hosted: 'Il fonctionne sur ce service : il ne peut venir que si vous laissez l’exploitant lire.',
    operator:
      'Ce service fait fonctionner l’agent : son exploitant peut lire tout ce salon, dès le premier message, tant que l’agent est là.',
    noticeStays:
      'Tout le monde dans ce salon en est informé. Gardez le salon ouvert : seul cet appareil retire l’agent de la liste à la fin. Tant que le salon n’est pas ouvert ici, l’appareil de l’exploitant reste sur la liste.',
    consent: (name) =>
      line`Je laisse l’exploitant de ce service lire dans ce salon tant que ${name} est là. Cela comprend tout ce qui a été dit avant.`,
    consentMissing: 'Si l’exploitant peut lire, cochez la case ci-dessus. Sinon, cet agent ne peut pas venir.',
    noKey: 'Impossible ici : il n’a pas de clé de chiffrement pour laquelle sceller une invitation.',
    remote:
      'Cet agent fonctionne sur la machine de son propriétaire. L’invitation est scellée pour sa clé, et aucun serveur ne peut l’ouvrir.',
    leaves: 'Quand il part, ce salon reçoit une autre clé. L’agent garde ce qu’il a lu.',
    present:
      'Gardez ce salon ouvert : seul cet appareil fait entrer l’agent, dans les 30 secondes, et le retire de la liste à la fin. Tant que le salon n’est pas ouvert ici, il reste sur la liste et peut lire, même après son temps.',
    stays: (minutes: number) => `Il reste jusqu’à ce que vous le renvoyiez, et ${duration(minutes)} au plus.`,
    removing: (name) => line`${name} est parti. On le retire de la liste, et le salon reçoit une autre clé…`,
    keyChanged: {
      title: 'Cet agent a maintenant une autre clé',
      text: 'Rien n’a été débité du coupon. Fermez le catalogue, rouvrez-le, et invitez l’agent depuis là.',
    },
  },
  invited: 'Agents que vous avez invités',
  sendAway: (name, who) => line`Renvoyer${name(` ${who}`)}`,
  dismiss: (name) => `Masquer ${isolated(name)}`,
  expired: (name, price) => line`${name} est parti : son temps était écoulé. ${cost(price)}`,
  stopped: (name, price) => line`${name} est parti. ${cost(price)}`,
  hadToLeave: (name, price) => line`${name} a dû partir. ${cost(price)}`,
  couldNotCome: (name, price) => line`${name} n’a pas pu venir. ${cost(price)}`,
  unreached: (name) => line`${name} n’a pas pu être renvoyé. Réessayez.`,
  leaving: (name) => line`Renvoi de ${name}…`,
  coming: (name) => line`${name} arrive…`,
  present: (name, time) => line`${name} lit le salon jusqu’à ${time}`,
  sayComing: (name) => `${isolated(name)} arrive`,
  sayHere: (name) => `${isolated(name)} est là`,
  sayLeft: (name) => `${isolated(name)} est parti`,
  sayUnreached: (name) => `${isolated(name)} n’a pas pu être renvoyé`,
}

function cost(price: number): string {
  return price === 0 ? 'Cela n’a rien coûté.' : `Cela a coûté ${credits(price)}.`
}
