import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const tools: Text['tools'] = {
  names: {
    claimed: (name) => `${isolated(name)}（ゲスト）`,
    unverified: (keyName) => `未確認のゲスト、${isolated(keyName)}`,
    change: '名前を変更',
    title: 'ゲストとしての名前',
    hint: '名前は誰も確認しません。ほかの人には、ゲストの名前であることが分かり、その横にこの端末のしるしが表示されます。',
    label: '名前',
    where: '使う範囲',
    inRoom: 'このルーム',
    everywhere: 'この端末のすべてのルーム',
    everywhereHint: '二つのルームで同じ名前を見た人は、同じ人だと気付くかもしれません。',
    save: '名前を保存',
    saved: (name) => `${isolated(name)} として書き込みます`,
    cleared: '自分の名前を使わずに書き込みます',
    notAllowed: '名前に @ は使えません。「あなた」という名前も使えません。',
  },

  messages: {
    actions: 'メッセージの操作',
    copy: 'メッセージをコピー',
    retract: 'メッセージを撤回',
    retractLabel: 'このメッセージを撤回しますか？',
    retractHint:
      'ルームを開く人全員に対して、アプリがメッセージを隠します。保存された行は残り、ルームの鍵があれば引き続き読むことができます。',
    retractIt: '撤回する',
    keepIt: '残す',
    hidden: '書いた人が撤回しました。保存された行は残ります。',
    quoted: '撤回されたメッセージ',
    notice: (name) => line`${name} がメッセージを撤回しました。`,
    youNotice: 'メッセージを撤回しました。',
    unloaded: (name) => line`${name} が、ここに読み込まれていないメッセージの撤回を求めています。`,
    spoken: (name) => `${isolated(name)} がメッセージを撤回しました`,
    retracting: 'メッセージを撤回しています',
  },

  file: {
    form: '1つのファイルにまとめたアプリ',
    link: 'ルームのリンク、または Space サービスのアドレス',
    hint: '作成したルームはそのサービスに保存されます。',
    current: (origin) => line`新しいルームは ${origin} に保存されます。`,
    open: '開く',
    notLink: 'ルームの完全なリンクでも、サービスのアドレスでもありません。',
    noSignIn: 'ファイルではサインインできません。そのようなルームにはサービスのページを使ってください。',
  },

  kept: {
    title: 'この端末のルーム',
    hint: 'このブラウザーにはこれらのルームの鍵があります。このブラウザーを使う人は誰でもルームを開けます。',
    keep: 'この端末に保管',
    keepHint: 'ルームがリンクとともにこのブラウザーの開始ページに表示されます。このブラウザーを使う人は誰でもルームを開けます。',
    isKept: 'このルームは、リンクとともにこのブラウザーの開始ページに表示されます。',
    nameLabel: 'ルームの名前（このブラウザーのみ）',
    name: 'ルームに名前を付ける',
    nameHint: 'ルームに名前を付けるには、ルームを開いて「その他」を選びます。',
    startPage: '開始ページ',
    forget: 'このルームを忘れる',
    forgetOne: (name, title) => line`${name(`${title} を`)}忘れる`,
    forgetAll: 'すべて忘れる',
    forgetLabel: (title) => `${isolated(title)} を忘れますか？`,
    forgetAsk: 'このブラウザーからリンクが削除されます。ほかの場所に保管していなければ、ルームに戻れなくなります。',
    forgetIt: '忘れる',
    keepIt: '残す',
    forgetAllLabel: 'すべてのルームを忘れますか？',
    forgetAllAsk:
      'このブラウザーから、これらのルームのリンクがすべて削除されます。ほかの場所にリンクを保管していないルームには戻れなくなります。',
    keepAll: 'すべて残す',
    saidKept: 'ルームをこの端末に保管しました',
    saidForgotten: (title) => `この端末は ${isolated(title)} を忘れました`,
    saidAllForgotten: 'この端末はすべてのルームを忘れました',
    opened: (when) => line`開いた日：${when}`,
    othersHint: 'このリストには、ほかのメンバーの一部の名前も表示されます。',
    roomWith: (names) => `${names} とのルーム`,
    more: (count) => plural(count, { other: 'ほか # 人' }),
    refused: 'このブラウザーでは、ページが何も保存できません。',
    full: 'この端末のルームのリストはいっぱいです。開始ページでルームを 1 つ忘れてから、もう一度お試しください。',
  },

  title: {
    heading: 'タイトル',
    label: 'ルームのタイトル',
    save: 'タイトルを変更',
    changed: (title) => `ルームのタイトルが ${isolated(title)} になりました`,
  },

  qr: {
    show: 'QR コードを表示',
    hide: 'QR コードを隠す',
    image: 'ルームのリンクの QR コード',
    hint: '招きたい人だけに見せてください。',
    tooLong: 'リンクが長すぎるため、QR コードにできません。',
  },

  agents: {
    title: 'エージェント',
    listHint: 'エージェントは、リストに載ると参加できます。',
    byId: 'エージェントの ID をお持ちですか？',
    buyCoupon: (host) => `${isolated(host)} でクーポンを買う`,
  },

  spoken: {
    connected: '再接続しました',
    firstMessage: (name) => `${isolated(name)} がここに初めて書き込みました`,
    earlier: (count) => plural(count, { other: '以前のメッセージが#件' }),
    sent: 'メッセージを送信しました',
    opened: (title, count) => `${isolated(title)}、${count === 0 ? 'メッセージなし' : plural(count, { other: 'メッセージ#件' })}`,
  },
}
