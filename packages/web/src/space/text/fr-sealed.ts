import { isolated, line, list, plural } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'Ce salon a déménagé',
    said: (name, when) =>
      line`${name} a écrit (${when}) que tout le monde continue dans un autre salon. On ne peut plus rien écrire ici.`,
    unchecked: 'Toute personne qui a le lien de ce salon peut écrire cela. En cas de doute, demandez d’abord aux autres.',
    noLink: 'Le nouveau lien n’est pas indiqué ici. Demandez-le à l’une des autres personnes.',
    open: 'Ouvrir le nouveau salon',
    unsent: 'Vous n’aviez pas envoyé ceci :',
  },

  move: {
    title: 'Donner un nouveau lien au salon',
    hint: 'Un nouveau salon vide est créé, et il est indiqué ici que tout le monde continue là-bas. Ce salon reste lisible avec l’ancien lien, mais on ne peut plus y écrire.',
    who: 'Qui reçoit le nouveau lien',
    all: 'Toutes les personnes qui ont l’ancien',
    allHint: 'Elles le trouvent ici.',
    some: 'Seulement celles à qui vous le donnez',
    someHint: 'Quiconque n’a que l’ancien lien ne suit pas.',
    button: 'Créer le nouveau salon',
    moving: 'Création du nouveau salon…',
  },

  list: {
    choiceHint: 'Vous invitez chacune d’elles. La clé reste sur leurs appareils.',
    withAgents: 'Les personnes d’une liste, et des agents',
    withAgentsHint: 'Elles se connectent avec leur adresse e-mail. Chaque requête confie la clé au service un instant.',
    yourName: (optional) => line`Votre nom ${optional('facultatif')}`,
    addressesHint: 'Vous envoyez ensuite une invitation à chacune. Vous pouvez aussi inviter plus tard.',
    head: 'Seulement les personnes de la liste. La clé reste chez elles.',
    empty:
      'Sous « Personnes », vous trouvez les invitations. Envoyez chacune à la personne à qui elle est destinée, puis admettez les personnes qui ont répondu.',
    emptyMember: 'Personne n’a encore rien écrit. Les personnes de la liste peuvent lire ce que vous écrivez.',
    share:
      'Ce lien n’ouvre le salon que sur les appareils de la liste. Pour faire venir quelqu’un, envoyez une invitation : voir « Personnes ».',
    members: 'Sur la liste',
    removeHint: 'Une personne retirée ne lit rien de ce qui s’écrit ensuite : le salon reçoit une autre clé.',
    removeLabel: (who) => `Retirer ${isolated(who)} ?`,
    removeAsk: (who) =>
      line`Retirer ${who} de la liste ? C’est irréversible. L’appareil ne peut revenir que par une nouvelle invitation, à laquelle il doit répondre.`,
    removeToo: (who) => `Ces appareils, qu’il a déclarés, sont retirés avec lui : ${who}.`,
    removeStays: (who) => `Ces appareils de la même personne restent sur la liste et lisent la suite : ${who}.`,
    removeInvites: (who) => `Toutes les invitations en cours pour ${who} sont annulées aussi.`,
    removeIt: 'Le retirer',
    keepIt: 'Le garder',
    addDevice: 'Ajouter un de vos appareils',
    deviceOf: (name) => `${name}, autre appareil`,
    deviceLink: 'Lien pour votre deuxième appareil',
    deviceHint:
      'Ici, chaque appareil a ses propres clés. Ouvrez ce lien sur votre deuxième appareil. Celui-ci affiche alors un lien à ouvrir sur l’appareil que vous utilisez maintenant. Aucun des deux liens ne contient de secret.',
    named: 'Deuxièmes appareils',
    kinds:
      'Le service n’obtient pas la clé de ce salon, sauf si le propriétaire du salon admet un agent du service. C’est alors indiqué au-dessus des messages.',
    invitations: 'Invitations',
    unanswered: 'Pas encore de réponse',
    answered: (name, note) => line`Réponse de ${name} : ${note}`,
    waits: (who) => `${isolated(who)} attend d’être admis.`,
    letIn: (name, who) => line`Admettre${name(` ${who}`)}`,
    notLetIn: 'Cette adresse n’a pas été prouvée par une connexion. Annulez l’invitation et envoyez-en une autre.',
    noKey: 'L’appareil qui a répondu ne peut pas recevoir la clé. Annulez l’invitation et envoyez-en une autre.',
    takeBack: (name, who) => line`Annuler l’invitation${name(` pour ${who}`)}`,
    tookBack: (who) => `L’invitation pour ${isolated(who)} a été annulée`,
    takeBackLabel: (who) => `Annuler l’invitation pour ${isolated(who)} ?`,
    takeBackAsk: (name) => line`${name} y a déjà répondu et devrait répondre à une autre invitation pour entrer.`,
    takeItBack: 'Annuler l’invitation',
    leaveIt: 'La garder',
    show: (name, who) => line`Afficher le lien${name(` pour ${who}`)}`,
    linkFor: (who) => `Invitation pour ${isolated(who)}`,
    linkHint:
      'Ne l’envoyez qu’à cette personne : tant que l’invitation est sans réponse, quiconque a ce lien peut lire le salon.',
    invite: 'Inviter quelqu’un',
    inviteButton: 'Inviter',
    inviteHint: 'Par adresse e-mail. L’invitation est un lien que vous envoyez vous-même. Le service ne reçoit pas l’adresse.',
    invited: (count) =>
      plural(count, { one: '# invitation est prête', other: '# invitations sont prêtes', many: '# d’invitations sont prêtes' }),
    showWho: 'Connectez-vous pour montrer aux autres votre adresse e-mail. Le service ne la reçoit pas.',
  },

  members: {
    and: (who, why) => `${isolated(who)}, ${isolated(why)}`,
    proven: (email, issuer) => `${isolated(email)}, adresse prouvée par ${isolated(issuer)}`,
    provenByOwner: (email, issuer) =>
      `${isolated(email)}, adresse prouvée par ${isolated(issuer)} avec une clé que le propriétaire a gardée`,
    owner: 'a créé le salon',
    agent: (id: string) => `${isolated(id)}, invité par le propriétaire pour la durée de sa session`,
    hosted: (id: string) => `${isolated(id)} de ce service : son exploitant peut lire le salon`,
    readsAlong: (name) => line`L’exploitant de ${name} peut lire ce salon. Le propriétaire du salon a admis l’agent.`,
    invitedAs: (who) => `invitation pour ${isolated(who)}`,
    unsigned: 'sans connexion',
    unchecked: 'connexion non vérifiée ici',
    revoked: 'n’est plus sur la liste',
    otherAddress: 'connexion avec une autre adresse',
    refused: (reason) => `connexion non valable (${isolated(reason)})`,
    second: (who) => `deuxième appareil, déclaré par ${isolated(who)}`,
  },

  invitation: {
    title: 'Vous avez reçu une invitation à un salon',
    isFor: (who) => line`L’invitation est pour ${who}.`,
    signInHint:
      'Le propriétaire vous admet quand vous avez prouvé cette adresse. Votre connexion est scellée dans le salon, où les autres peuvent la vérifier. Le service du salon ne la reçoit pas.',
    signedIn: (email) => line`Connexion effectuée avec ${email}.`,
    next: 'Ensuite, le propriétaire admet cet appareil. Seul cet appareil avec ce navigateur peut ouvrir le salon.',
    answer: 'Répondre à l’invitation',
    answering: 'Réponse en cours…',
    used: 'Cette invitation n’est plus valable',
    usedHint: 'Elle a reçu une réponse, a été annulée ou a été copiée de façon incomplète. Demandez-en une autre.',
    unkept:
      'Ce navigateur ne permet pas à la page de conserver les clés de cet appareil, peut-être parce que c’est une fenêtre privée. Le salon ne s’ouvrirait que jusqu’à ce que vous fermiez cette page.',
  },

  secondDevice: {
    waitTitle: 'Est-ce un deuxième appareil à vous ?',
    waitHint:
      'Ouvrez ce lien sur votre appareil qui est déjà dans le salon, ou scannez-le avec celui-ci. Il ne contient aucun secret.',
    firstHint:
      'Prenez ensuite votre appareil qui est déjà dans le salon : sous « Personnes », choisissez « Ajouter un de vos appareils » et ouvrez sur cet appareil-ci le lien qu’il affiche.',
    otherTitle: 'Ce lien est pour un autre appareil',
    other:
      'Le deuxième appareil a créé ce lien pour un autre appareil : celui dont il a ouvert le lien. Ouvrez ce lien sur cet autre appareil. Pour ajouter plutôt le deuxième appareil depuis ici, choisissez « Ajouter un de vos appareils » sous « Personnes » et ouvrez le nouveau lien sur le deuxième appareil.',
    code: (code) => `Code de cet appareil : ${isolated(code)}`,
    label: 'Lien pour votre premier appareil',
    title: 'Ajouter votre deuxième appareil',
    hint: 'Ajoutez-le seulement si ce lien vient d’un appareil que vous avez en main et si cet appareil affiche le même code. Le propriétaire du salon l’admet ensuite. L’appareil lit ce que vous lisez et quitte le salon avec vous.',
    add: 'C’est mon appareil',
    adding: 'Ajout…',
    done: 'L’appareil a été déclaré',
    doneHint: 'Le propriétaire du salon l’admet.',
    back: 'Aller au salon',
  },
  answered: {
    title: 'Vous avez répondu à l’invitation',
    text: 'Le salon s’ouvre ici dès que son propriétaire vous admet. Vous pouvez aussi revenir plus tard, avec le même navigateur. Si c’est long, adressez-vous au propriétaire.',
  },
  takenBack: {
    title: 'Le service n’accepte plus l’invitation',
    text: 'Le service dit que le propriétaire a annulé l’invitation à laquelle cet appareil avait répondu. Pour entrer, demandez une autre invitation au propriétaire.',
  },
  full: {
    title: 'La liste est pleine',
    text: 'Elle contient jusqu’à 100 appareils et invitations en cours, et moins si beaucoup d’invitations sont en cours. Annulez des invitations ou retirez des appareils.',
  },
  waiting: {
    title: 'Le service ne laisse pas entrer cet appareil',
    text: 'Si vous avez répondu à une invitation, attendez ici : le salon s’ouvre dès que son propriétaire vous admet. Sinon, demandez-lui une invitation.',
  },
  removed: {
    title: 'Le service ne laisse plus entrer cet appareil',
    text: 'Le service ne laisse plus entrer cet appareil, comme après un retrait par le propriétaire : il ne lit rien de plus récent. Seul le service le dit. En cas de doute, parlez-en au propriétaire. Pour revenir, demandez-lui une nouvelle invitation.',
  },

  checks: {
    recipients: 'Seuls les appareils de la liste reçoivent la clé',
    recipientsText: (devices) =>
      plural(devices, {
        one: 'La liste la plus récente scelle la clé pour # appareil, invitations en cours comprises. Il n’y a pas de clé pour l’exploitant.',
        other:
          'La liste la plus récente scelle la clé pour # appareils, invitations en cours comprises. Il n’y a pas de clé pour l’exploitant.',
        many: 'La liste la plus récente scelle la clé pour # d’appareils, invitations en cours comprises. Il n’y a pas de clé pour l’exploitant.',
      }),
    operator: 'L’exploitant d’un agent peut lire le salon',
    operatorText: (ids) =>
      `La liste la plus récente donne la clé à l’appareil de l’exploitant pour ${list(ids)}. Le propriétaire l’a signé. Quand l’agent part, la clé change.`,
    unopened: (count) =>
      plural(count, {
        one: '# ligne attend une clé de cet appareil.',
        other: '# lignes attendent une clé de cet appareil.',
        many: '# de lignes attendent une clé de cet appareil.',
      }),
    lists: 'Le propriétaire a signé chaque liste',
    listsText: (lists, changes) =>
      `${plural(lists, { one: '# liste', other: '# listes', many: '# de listes' })}, ${plural(changes, { one: '# changement de clé', other: '# changements de clé', many: '# de changements de clé' })}. Personne n’a quitté la liste sans changement de clé.`,
    authors: 'Chaque message est signé par un appareil de la liste',
    authorsText: (count) =>
      plural(count, {
        one: '# signature a été vérifiée ici.',
        other: '# signatures ont été vérifiées ici.',
        many: '# de signatures ont été vérifiées ici.',
      }),
  },
}
