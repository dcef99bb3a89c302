import { isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

export const protection: Text['protection'] = {
  title: 'Ce qui protège ce salon',
  stored: 'Ce qui est enregistré',
  storedBy: 'Qui l’enregistre',
  trusted: 'Ce à quoi vous faites confiance',
  checking: 'Vérification…',
  checkAgain: 'Vérifier à nouveau',
  failedTitle: (count) =>
    plural(count, {
      one: 'Une vérification a échoué',
      many: '# de vérifications ont échoué',
      other: '# vérifications ont échoué',
    }),
  failed:
    'Quelque chose ne va pas. Lisez ci-dessous de quoi il s’agit, et n’écrivez ici rien d’important tant que ce n’est pas résolu.',
  busy: 'Votre navigateur le fait lui-même, ici et maintenant.',
  openTitle: 'Tout n’a pas pu être vérifié',
  open: (proved, trusted, open) =>
    `Prouvé : ${number(proved)} ; confiance requise : ${number(trusted)} ; non vérifié : ${number(open)}.`,
  provedTitle: (proved, trusted) => `Prouvé : ${number(proved)} ; confiance requise : ${number(trusted)}`,
  proved: 'Vérifié par votre navigateur, ici et maintenant. Rien n’a échoué.',
  verdicts: { proved: 'Prouvé', trusted: 'Confiance requise', failed: 'Échec', unknown: 'Non vérifié' },
  found: (verdict, words) => line`${verdict}. ${words}`,
  perhapsOffline: 'Vous êtes peut-être hors ligne. Vérifiez à nouveau dans un instant.',
  roomUnreachable: 'Les octets enregistrés n’ont pas pu être chargés',
  roomUnchecked: 'Il n’est pas vérifié pour l’instant si des lignes ont été modifiées, ni qui peut les ouvrir.',
  certificateUnreachable: 'Le certificat du service n’a pas pu être chargé',
  certificateUnchecked: 'La clé, la version, le code source et le journal public du service ne sont pas vérifiés pour l’instant.',
  acceptKey: 'Je sais pourquoi : accepter désormais cette clé',
  outside: 'De l’extérieur',
  outsideHint:
    'Les mêmes vérifications avec un programme à vous, qui vérifie aussi les scripts de la page et recompile le code source :',
  command: 'Commande',
  program: (link) =>
    line`Le programme est un seul fichier, dont l’empreinte figure parmi les ${link('téléchargements')}. Comparez-la avec celle que vous donne une personne de confiance.`,
  kinds:
    'Dans les autres salons, chaque requête confie la clé au service un instant, pour que des agents puissent participer. Dans ce salon, aucun ne le peut.',

  running: {
    title: 'La machine exécute la version qu’elle indique',
    text: 'Une signature montre qui le dit, non que c’est vrai. Ici, vous faites confiance à l’exploitant.',
  },
  key: {
    title: 'Le service ne reçoit jamais votre clé',
    text: 'Cette page scelle et ouvre elle-même chaque message. Elle signe ses requêtes avec une autre clé, dont le service connaît la partie publique.',
  },
  memory: {
    title: 'Le service oublie votre clé après chaque réponse',
    text: 'Pour lire ou écrire, il a besoin de la clé un instant. Son code source montre qu’il ne l’enregistre jamais. Que ce code soit celui qui s’exécute est une question de confiance.',
  },
  page: {
    title: 'Cette page est celle qui est publiée',
    text: 'Une page ne peut pas se porter garante d’elle-même. La commande ci-dessous vérifie de l’extérieur ses scripts et tout ce qui précède.',
  },
  agents: {
    title: 'Quiconque a exploité un agent ici a oublié la clé',
    text: 'Un agent ne peut pas lire sans la clé du salon. Personne ne peut vérifier si elle a été gardée après son départ.',
  },

  bytes: {
    proved: 'Ce qui est enregistré est ce que le service annonce',
    failed: 'Les octets enregistrés ne sont pas ceux que le service annonce',
    text: (count, hash) =>
      `${plural(count, { one: '# octet', many: '# d’octets', other: '# octets' })}, SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: 'Seule la clé du salon peut l’ouvrir',
    provedText: 'Chaque ligne nomme un destinataire : toute personne qui a le lien. Il n’y a pas de clé pour l’exploitant.',
    directText: 'Chaque ligne est scellée avec une clé que seul le lien donne. Aucune clé n’est enregistrée à côté.',
    failed: 'Quelqu’un d’autre peut aussi l’ouvrir',
    failedText: (names) => `Autres destinataires : ${isolated(names)}.`,
  },
  opens: {
    proved: 'Votre clé ouvre tout',
    provedText: (count) =>
      plural(count, {
        one: '# ligne scellée a été ouverte sur cet appareil. La clé n’a pas été envoyée pour cela.',
        many: '# de lignes scellées ont été ouvertes sur cet appareil. La clé n’a pas été envoyée pour cela.',
        other: '# lignes scellées ont été ouvertes sur cet appareil. La clé n’a pas été envoyée pour cela.',
      }),
    failed: 'Votre clé n’ouvre pas tout',
    failedText: 'Au moins une ligne enregistrée est endommagée ou a été scellée avec une autre clé.',
  },
  chain: {
    proved: 'Rien n’a été modifié, omis ni inséré',
    provedText:
      'Chaque ligne contient l’empreinte de la précédente, de la première à la dernière montrée à cette page, maintenant et lors de votre dernière visite.',
    failed: 'L’historique a été modifié',
    breaks: (line) => `La chaîne se rompt à la ligne ${number(line)}.`,
    shorter: 'Il ne contient pas la dernière ligne montrée à ce navigateur.',
  },
  seen: {
    title: 'Chaque auteur a vu cet historique',
    text: 'Chaque message nomme la dernière ligne que son auteur avait lue, avec son empreinte. Toutes sont ici.',
  },
  shown: {
    proved: 'On vous a montré ce qui est enregistré',
    provedText: (count) =>
      plural(count, {
        one: '# message de cette page a été comparé mot pour mot avec le message scellé.',
        many: '# de messages de cette page ont été comparés mot pour mot avec les messages scellés.',
        other: '# messages de cette page ont été comparés mot pour mot avec les messages scellés.',
      }),
    failed: 'On vous a montré quelque chose qui n’est pas enregistré',
    failedText: (count, first) =>
      `${plural(count, { one: '# message diffère.', many: '# de messages diffèrent.', other: '# messages diffèrent.' })} Le premier porte le numéro ${number(first)}.`,
  },
  certificate: {
    proved: 'Le certificat de la version est signé',
    failed: 'Le certificat de la version n’est pas authentique',
    text: (service, commit, code) => `${isolated(service)}, commit ${isolated(commit)}, code ${isolated(`${code}…`)}`,
  },
  pin: {
    first: 'C’est la première fois que ce navigateur voit la clé',
    firstText: (key) =>
      `${isolated(key)} est désormais retenue, pour que ce navigateur remarque un changement. Comparez cette clé avec ce que l’exploitant publie ailleurs.`,
    same: 'C’est la même clé qu’avant',
    sameText: (key, day) => `${isolated(key)}, connue de ce navigateur depuis le ${day}.`,
    changed: 'La clé du service a changé',
    changedText: (key, day) =>
      `Depuis le ${day}, c’en était une autre ; maintenant c’est ${isolated(key)}. Si l’exploitant ne l’a pas annoncé, n’écrivez pas ici.`,
  },
  source: {
    proved: 'Le code source publié est celui que le certificat indique',
    failed: 'Le code source publié n’est pas celui que le certificat indique',
    text: (kilobytes) => `${number(kilobytes)} Ko que tout le monde peut lire et compiler.`,
    unreachable: 'Le code source n’a pas pu être chargé',
    unreachableText: 'Réessayez quand vous serez en ligne.',
  },
  attest: {
    proved: 'Le service en marche détient cette clé et indique la même version',
    provedText: 'Il a signé un nombre aléatoire que ce navigateur vient de produire.',
    failed: 'Le service en marche n’est pas celui qui est certifié',
    unsigned: 'Sa réponse n’est pas signée par la clé du certificat.',
    stale: 'Sa réponse est ancienne.',
    otherBuild: 'Il indique une autre version.',
    unreachable: 'Le service en marche n’a pas répondu',
    unreachableText:
      'Il n’est pas vérifié pour l’instant s’il détient cette clé et indique la même version. Vérifiez à nouveau dans un instant.',
  },
  log: {
    unreachable: 'Le journal public est injoignable',
    unreachableText:
      'Pour l’instant, il n’est pas vérifié que tout le monde voit le même certificat et la même page. Vérifiez à nouveau dans un instant.',
    notCompared: 'Ce qui vous est montré n’a pas été comparé au journal public',
    broken: 'Le journal public se contredit',
    brokenText: 'Une signature ou une preuve y est incorrecte. N’écrivez rien ici tant que l’exploitant ne l’a pas expliqué.',
    first: 'Ce navigateur voit le journal public pour la première fois',
    firstText: (entries: number) =>
      `${plural(entries, { one: '# entrée', many: '# d’entrées', other: '# entrées' })}. Elles sont retenues, pour que ce navigateur remarque si l’une est retirée ou modifiée.`,
    same: 'Le journal public prolonge ce que ce navigateur a vu',
    sameText: (before: number, now: number) =>
      `Il avait ${plural(before, { one: '# entrée', many: '# d’entrées', other: '# entrées' })} et en a maintenant ${number(now)}. Aucune n’a été retirée ni modifiée.`,
    rolledBack: 'Le journal public est revenu en arrière',
    rolledBackText:
      'Des entrées que ce navigateur a vues ont disparu. L’exploitant a restauré une ancienne copie, ou cache quelque chose.',
    forked: 'Le journal public a été réécrit',
    forkedText: 'Il montre un autre historique qu’avant. D’autres voient peut-être un autre certificat que vous.',
    other: 'C’est un autre journal public',
    otherText: (name: string) => `Il s’appelle maintenant ${isolated(name)}. Sauf annonce de l’exploitant, n’écrivez rien ici.`,
    has: 'Le journal public contient ce que l’on vous montre',
    hasText: (epochs: number) =>
      plural(epochs, {
        one: 'Certificat, page et # clé de jetons aveugles, tels que tous les autres les voient.',
        many: 'Certificat, page et # de clés de jetons aveugles, tels que tous les autres les voient.',
        other: 'Certificat, page et # clés de jetons aveugles, tels que tous les autres les voient.',
      }),
    olderText: (epochs: number) =>
      plural(epochs, {
        one: '# clé plus ancienne n’a pas été comparée.',
        many: '# de clés plus anciennes n’ont pas été comparées.',
        other: '# clés plus anciennes n’ont pas été comparées.',
      }),
    unread: 'Les clés de jetons aveugles n’ont pas toutes été comparées',
    unreadText:
      'Leur liste est incorrecte, ou n’a pas été lue jusqu’à la fin. N’achetez pas de jetons avant qu’elles soient comparées.',
    lacks: 'Le journal public ne contient pas ce que l’on vous montre',
    lacksText: (what: string) => `Absent au bout de deux minutes : ${what}. On vous montre peut-être autre chose qu’aux autres.`,
    notYet: 'Le journal public ne contient pas encore ceci',
    notYetText: (what: string) =>
      `Encore absent : ${what}. Toute nouveauté y est inscrite en deux minutes au plus. Vérifiez à nouveau ensuite.`,
    certificate: 'le certificat',
    page: 'cette page',
    epoch: 'une clé de jetons aveugles',
    witnessed: 'D’autres surveillent le journal public',
    witnessedText: (names: string) => `Cosigné par ${isolated(names)} : ils ont vu le même journal que vous.`,
    fewWitnesses: 'Le journal public n’est pas confirmé par des témoins',
    fewWitnessesText: 'Il nomme des témoins, mais trop peu l’ont cosigné. Vérifiez à nouveau dans un instant.',
    noWitness: 'Le journal public n’est pas confirmé par des témoins',
    noWitnessText:
      'Personne d’autre ne confirme que tous voient le même journal. Pour cela, vous faites confiance à l’exploitant, ou vous comparez avec d’autres.',
  },
}
