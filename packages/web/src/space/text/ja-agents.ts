import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { other: '#クレジット' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'エージェントを招待',
  hint: 'エージェントは会話に参加します。料金はクーポンで支払います。',
  choose: (name, who) => line`${name(`${who} を`)}選ぶ`,
  fetchingCatalog: 'カタログを読み込んでいます…',
  noAgents: 'カタログにエージェントはありません。',
  fetching: '読み込んでいます…',
  moreAgents: (count) => plural(count, { other: 'エージェントをさらに#件表示しました' }),
  all: 'すべてのエージェント',
  free: '無料',
  price: (count) => credits(count),
  upTo: (minutes) => `最長${duration(minutes)}`,
  rated: (average, count) => `評価は5点中${average}点（${plural(count, { other: '#件' })}）`,
  coupon: 'クーポン',
  couponHint: 'エージェントを送り出すサービスに送られます。このブラウザーには保存されません。',
  notCoupon: (start, length) =>
    `クーポンが完全ではありません。クーポンは ${isolated(start)} で始まり、${number(length)}文字あります。`,
  alreadyHere: (name) => `${isolated(name)} はすでにこのルームにいます。クーポンからは何も引かれていません。`,
  inviteFree: '招待',
  inviteFor: (price) => `${credits(price)}で招待`,
  inviting: '招待しています…',
  notOnList: (name) => line`${name} はこのルームのリストに載っていません。クーポンからは何も引かれていません。`,
  letInAndInvite: '追加して招待する',
  ownerCanLetIn: (id) => line`追加できるのはルームの所有者だけです。ID：${id}`,
  terms: {
    title: '招待する前に',
    reads: 'エージェントは、このルームのすべてを最初のメッセージから読みます。',
    remote: 'このエージェントは所有者のマシンで動作し、その所有者にこのルームの鍵が渡されます。渡した鍵は取り戻せません。',
    hosted:
      'エージェントがいる間、このサービスとエージェントの運営者はこのルームの鍵を持ちます。その後に忘れることは、両者を信頼するしかありません。渡した鍵は取り戻せません。',
    list: 'それでもリストは有効です。リストから外れたエージェントは、どの鍵を持っていても入れません。',
    remoteOpen:
      '退出させた後も、エージェントはこのルームを読み続け、ゲストとして書き込むことができます。このルームには、鍵を持つ人は誰でも入れるからです。',
    sealed: '書かれたものは、鍵を持たない人に対しては、保存先で封印されたままです。',
    stays: (minutes) => `このタブで退出させるまで滞在します。最長${duration(minutes)}です。`,
    costs: (price) => `参加した時点で${credits(price)}かかります。すぐに退出しても同じです。`,
    whoReads: '誰が読めるのか',
    listedRoom:
      'リストのあるルームでは、エージェントはリストに載っている間だけ入ることができ、セッションが終わると滞在も終わります。',
    makeListed: 'リストのあるルームを作る',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: '自分の鍵を持つエージェントが参加できます。必要なものはその鍵に封印され、サービスはこのルームの鍵を受け取りません。サービスのエージェントは、その運営者が読むことを許可すれば参加できます。',
    hosted: 'このサービスで動作します。運営者が読むことを許可した場合だけ参加できます。',
    operator:
      'このエージェントはこのサービスで動作します。そのため、サービスの運営者は、エージェントがいる間、このルームのすべてを最初のメッセージから読むことができます。',
    noticeStays:
      'そのことは、このルームの全員に表示されます。ルームを開いたままにしてください。最後にエージェントをリストから外すのは、この端末だけです。この端末でルームを開いていない間は、運営者の端末がリストに残ります。',
    consent: (name) =>
      line`${name} がいる間、このサービスの運営者がこのルームを読むことを許可します。これまでのやり取りもすべて含みます。`,
    consentMissing:
      '運営者が読んでもよければ、上のボックスにチェックを入れてください。入れなければ、このエージェントは参加できません。',
    noKey: 'ここでは招待できません。招待を封印するための暗号鍵がありません。',
    remote: 'このエージェントは所有者のマシンで動作します。招待はその鍵に封印され、どのサーバーも開けません。',
    leaves: '退出すると、このルームの鍵が変わります。エージェントは読んだものを持ち続けます。',
    present:
      'このルームを開いたままにしてください。エージェントの参加を30秒以内に許可し、最後にリストから外すのは、この端末だけです。この端末でこのルームを開いていない間、エージェントはリストに残り、時間が過ぎても読むことができます。',
    stays: (minutes: number) => `退出させるまで滞在します。最長${duration(minutes)}です。`,
    removing: (name) => line`${name} は退出しました。リストから外し、ルームの鍵を変えています…`,
    keyChanged: {
      title: 'このエージェントの鍵が変わりました',
      text: 'クーポンからは何も引かれていません。カタログを閉じて開き直し、そこから招待してください。',
    },
  },
  invited: '招待したエージェント',
  sendAway: (name, who) => line`${name(`${who} を`)}退出させる`,
  dismiss: (name) => `${isolated(name)} の表示を消す`,
  expired: (name, price) => line`${name} は時間切れで退出しました。${cost(price)}`,
  stopped: (name, price) => line`${name} は退出しました。${cost(price)}`,
  hadToLeave: (name, price) => line`${name} は途中で退出することになりました。${cost(price)}`,
  couldNotCome: (name, price) => line`${name} は参加できませんでした。${cost(price)}`,
  unreached: (name) => line`${name} を退出させることができませんでした。もう一度お試しください。`,
  leaving: (name) => line`${name} を退出させています…`,
  coming: (name) => line`${name} が参加しようとしています…`,
  present: (name, time) => line`${name} は ${time} までこのルームを読みます`,
  sayComing: (name) => `${isolated(name)} が参加しようとしています`,
  sayHere: (name) => `${isolated(name)} が参加しました`,
  sayLeft: (name) => `${isolated(name)} が退出しました`,
  sayUnreached: (name) => `${isolated(name)} を退出させることができませんでした`,
}

function cost(price: number): string {
  return price === 0 ? '料金はかかりませんでした。' : `料金は${credits(price)}でした。`
}
