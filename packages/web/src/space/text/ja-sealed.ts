import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'このルームは移動しました',
    said: (name, when) => line`${name}が${when}、全員が別のルームに移ると書きました。ここにはもう書き込めません。`,
    unchecked: 'このルームのリンクを持つ人なら誰でもそう書けます。疑わしいときは、先にほかの人に確かめてください。',
    noLink: '新しいリンクはここにはありません。ほかの人に尋ねてください。',
    open: '新しいルームを開く',
    unsent: 'まだ送信していなかったもの：',
  },

  move: {
    title: 'ルームのリンクを新しくする',
    hint: '新しい空のルームを作り、全員がそこに移ることをここに書きます。このルームは古いリンクで引き続き読めますが、もう書き込めません。',
    who: '新しいリンクを受け取る人',
    all: '古いリンクを持つ全員',
    allHint: 'ここで見つけられます。',
    some: '自分で渡した人だけ',
    someHint: '古いリンクしか持たない人は残されます。',
    button: '新しいルームを作る',
    moving: '新しいルームを作成中…',
  },

  list: {
    choiceHint: '一人ずつ招待します。鍵はその人たちの端末に残ります。',
    withAgents: 'リストの人とエージェント',
    withAgentsHint: 'メールアドレスでサインインします。要求のたびに、サービスへ鍵が一時的に渡ります。',
    yourName: (optional) => line`あなたの名前 ${optional('任意')}`,
    addressesHint: 'そのあと、それぞれに招待を送ります。あとから招待することもできます。',
    head: 'リストの人だけ。鍵はその人たちの手元に残ります。',
    empty: '「メンバー」に招待があります。それぞれの相手に送り、応答した人を入れてください。',
    share: 'このリンクは、リストにある端末でのみルームを開きます。誰かを入れるには招待を送ってください（「メンバー」を参照）。',
    members: 'リストにいる人',
    removeHint: '外された人は、それ以後に書かれたものを読めません。ルームの鍵が変わるためです。',
    removeLabel: (who) => `${isolated(who)}を外しますか？`,
    removeAsk: (who) =>
      line`${who}をリストから外しますか？元に戻すことはできません。この端末が戻るには、新しい招待に応答する必要があります。`,
    removeToo: (who) => `この端末が追加した次の端末も一緒に外されます：${who}。`,
    removeIt: '外す',
    keepIt: '残す',
    addDevice: '自分の別の端末を追加',
    deviceOf: (name) => `${name}、別の端末`,
    deviceLink: '2台目の端末用のリンク',
    deviceHint:
      'ここでは端末ごとに鍵があります。このリンクを2台目の端末で開いてください。すると、この端末で開くためのリンクが2台目の端末に表示されます。どちらのリンクにも秘密は含まれません。',
    named: '2台目の端末',
    kinds:
      'サービスはこのルームの鍵を受け取りません。ただし、所有者がサービスのエージェントを入れた場合は別で、そのことがメッセージの上に表示されます。',
    invitations: '招待',
    unanswered: 'まだ応答がありません',
    answered: (name, note) => line`${name}が応答しました：${note}`,
    waits: (who) => `${isolated(who)}が入室の許可を待っています。`,
    letIn: (name, who) => line`入れる${name(` ${who}`)}`,
    notLetIn: 'このアドレスはサインインで示されていません。招待を取り消し、別の招待を送ってください。',
    noKey: '応答した端末は鍵を受け取れません。招待を取り消し、別の招待を送ってください。',
    takeBack: (name, who) => line`取り消す${name(` ${who}への招待`)}`,
    tookBack: (who) => `${isolated(who)}への招待を取り消しました`,
    takeBackLabel: (who) => `${isolated(who)}への招待を取り消しますか？`,
    takeBackAsk: (name) => line`${name}が応答済みです。取り消すと、入るには別の招待に応答する必要があります。`,
    takeItBack: '取り消す',
    leaveIt: 'そのままにする',
    show: (name, who) => line`リンクを表示${name(` ${who}`)}`,
    linkFor: (who) => `${isolated(who)}への招待`,
    linkHint: 'この人だけに送ってください。応答されるまで、これを持つ人は誰でもルームを読めます。',
    invite: '招待する',
    inviteButton: '招待',
    inviteHint: 'メールアドレスで招待します。招待はリンクで、自分で送ります。サービスにアドレスは渡りません。',
    invited: (count) => plural(count, { other: '#件の招待の用意ができました' }),
    showWho: 'サインインすると、ほかの人にメールアドレスを示せます。サービスには渡りません。',
  },

  members: {
    and: (who, why) => `${isolated(who)}、${isolated(why)}`,
    proven: (email, issuer) => `${isolated(email)}、${isolated(issuer)}が証明`,
    provenByOwner: (email, issuer) => `${isolated(email)}、所有者が保管した鍵により${isolated(issuer)}が証明`,
    owner: 'ルームを作成',
    agent: (id: string) => `${isolated(id)}、セッションの間、所有者が招待`,
    hosted: (id: string) => `このサービスの ${isolated(id)}。運営者が読むことができます`,
    readsAlong: (name) => line`${name}の運営者は、このルームを読むことができます。ルームの所有者がエージェントを入れました。`,
    invitedAs: (who) => `${isolated(who)}として招待`,
    unsigned: 'サインインなし',
    unchecked: 'サインインはここでは未確認',
    revoked: 'リストから外れています',
    otherAddress: '別のアドレスでサインイン',
    refused: (reason) => `サインインは無効（${isolated(reason)}）`,
    second: (who) => `2台目の端末（${isolated(who)} が指定）`,
  },

  invitation: {
    title: 'ルームに招待されています',
    isFor: (who) => line`この招待は${who}宛てです。`,
    signInHint:
      'このアドレスを示すと、所有者が入れてくれます。サインインはルームに封印され、ほかの人が確かめられます。ルームのサービスには渡りません。',
    signedIn: (email) => line`${email}としてサインインしました。`,
    next: 'そのあと、所有者がこの端末を入れます。ルームを開けるのは、この端末のこのブラウザーだけです。',
    answer: '招待に応答する',
    answering: '応答中…',
    used: 'この招待は無効になりました',
    usedHint: '応答済みか、取り消されたか、コピーが不完全です。別の招待を頼んでください。',
    unkept:
      'このブラウザーでは、この端末の鍵をページが保存できません。プライベートウィンドウかもしれません。ルームを開けるのは、このページを閉じるまでです。',
  },

  secondDevice: {
    waitTitle: 'あなたの2台目の端末ですか？',
    waitHint: 'すでにルームに入っている端末でこのリンクを開くか、読み取ってください。リンクに秘密は含まれません。',
    firstHint:
      'その場合は、すでにルームに入っている端末で「メンバー」の「自分の別の端末を追加」を選び、表示されたリンクをこの端末で開いてください。',
    otherTitle: 'このリンクは別の端末用です',
    other:
      '2台目の端末は、このリンクを別の端末用に作成しました。2台目の端末が開いたリンクの、元の端末です。このリンクはその端末で開いてください。代わりにこの端末から2台目を追加するには、「メンバー」の「自分の別の端末を追加」を選び、新しいリンクを2台目の端末で開いてください。',
    code: (code) => `この端末のコード：${isolated(code)}`,
    label: '1台目の端末用のリンク',
    title: '2台目の端末を追加',
    hint: 'このリンクが手元の端末からのもので、その端末に同じコードが表示されている場合だけ追加してください。その後、ルームの所有者が入れます。その端末はあなたと同じものを読み、あなたとともにルームを離れます。',
    add: 'これは自分の端末です',
    adding: '追加しています…',
    done: '端末を指定しました',
    doneHint: 'ルームの所有者が入れます。',
    back: 'ルームへ',
  },
  answered: {
    title: '招待に応答しました',
    text: '所有者が入れると、すぐにここでルームが開きます。同じブラウザーであとから戻ってくることもできます。時間がかかるときは、所有者に尋ねてください。',
  },
  takenBack: {
    title: '招待が取り消されました',
    text: 'この端末が応答した招待を、ルームの所有者が取り消しました。入るには、別の招待を所有者に頼んでください。',
  },
  full: {
    title: 'リストがいっぱいです',
    text: 'リストに入るのは端末と未回答の招待を合わせて100までで、招待が多いとそれより少なくなります。招待を取り消すか、端末を外してください。',
  },
  waiting: {
    title: 'この端末はリストにありません',
    text: '招待に応答したのなら、ここで待ってください。所有者が入れると、すぐにルームが開きます。そうでなければ、所有者に招待を頼んでください。',
  },
  removed: {
    title: 'この端末はリストから外されました',
    text: 'ルームの鍵が変わったため、この端末は新しいものを読めません。戻るには、所有者に新しい招待を頼んでください。',
  },

  checks: {
    recipients: '鍵を受け取るのはリストにある端末だけです',
    recipientsText: (devices) =>
      plural(devices, { other: '最新のリストは、未応答の招待を含む#台の端末に鍵を封印しています。運営者の鍵はありません。' }),
    operator: 'エージェントの運営者が読むことができます',
    operatorText: (ids: string) =>
      `最新のリストは、${isolated(ids)} のために運営者の端末にも鍵を渡しています。所有者がそれに署名しました。エージェントが退出すると、鍵が変わります。`,
    unopened: (count) => plural(count, { other: '#行が、この端末の鍵を待っています。' }),
    lists: 'すべてのリストに所有者の署名があります',
    listsText: (lists, changes) =>
      `${plural(lists, { other: 'リスト#件' })}、${plural(changes, { other: '鍵の変更#回' })}。鍵を変えずにリストから外れた人はいません。`,
    authors: 'すべてのメッセージに、リストにある端末の署名があります',
    authorsText: (count) => plural(count, { other: '#件の署名をここで確かめました。' }),
  },
}
