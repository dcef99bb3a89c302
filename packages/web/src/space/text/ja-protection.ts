import { isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

export const protection: Text['protection'] = {
  title: 'このルームを守るもの',
  stored: '保存されている内容',
  storedBy: '保存しているサービス',
  trusted: '信頼していること',
  checking: '確認しています…',
  checkAgain: 'もう一度確認',
  failedTitle: (count) => plural(count, { other: '#件の確認に失敗しました' }),
  failed: '正しくない点があります。下の内容を読み、解決するまで、大切なことはここに書き込まないでください。',
  busy: 'このブラウザー自身が、いまここで確認しています。',
  openTitle: '確認できないものがありました',
  open: (proved, trusted, open) => `証明済み${number(proved)}件、信頼による${number(trusted)}件、未確認${number(open)}件。`,
  provedTitle: (proved, trusted) => `証明済み${number(proved)}件、信頼による${number(trusted)}件`,
  proved: 'このブラウザーが、いまここで確認しました。失敗はありません。',
  verdicts: { proved: '証明済み', trusted: '信頼', failed: '失敗', unknown: '未確認' },
  found: (verdict, words) => line`${verdict}：${words}`,
  perhapsOffline: 'オフラインかもしれません。しばらくしてからもう一度確認してください。',
  roomUnreachable: '保存されたバイト列を読み込めませんでした',
  roomUnchecked: '行が改変されていないか、誰が開けるかは、いま確認できません。',
  certificateUnreachable: 'サービスの証明書を読み込めませんでした',
  certificateUnchecked: 'サービスの鍵、ビルド、ソース、公開ログは、いま確認できません。',
  acceptKey: '理由を知っているので、今後はこの鍵を想定する',
  outside: '外部からの確認',
  outsideHint: '手元のプログラムで同じ確認を行います。そのプログラムは、ページのスクリプトも確認し、ソースを再ビルドします：',
  command: 'コマンド',
  program: (link) =>
    line`プログラムは一つのファイルで、そのハッシュは${link('ダウンロード')}に記載されています。信頼できる人から得たハッシュと比べてください。`,
  kinds:
    'ほかのルームでは、エージェントが参加できるように、リクエストのたびに鍵がサービスへ一時的に渡ります。このルームには、エージェントは参加できません。',

  running: {
    title: 'マシンは、自らが示すビルドを実行しています',
    text: '署名が示すのは誰がそう述べたかであり、それが事実であることではありません。ここでは運営者を信頼することになります。',
  },
  key: {
    title: 'サービスに鍵が渡ることはありません',
    text: 'このページ自身が、すべてのメッセージを封印し、開きます。リクエストには別の鍵で署名し、サービスが知るのはその公開部分だけです。',
  },
  memory: {
    title: 'サービスは応答のたびに鍵を忘れます',
    text: '読み書きのために、サービスは一時的に鍵を必要とします。鍵をまったく保存しないことはソースから分かりますが、そのソースが動いていることは信頼するしかありません。',
  },
  page: {
    title: 'このページは公開されているものです',
    text: 'ページは自らを保証できません。下のコマンドは、ページのスクリプトと上記のすべてを外部から確認します。',
  },
  agents: {
    title: 'ここでエージェントを動かした人は鍵を忘れました',
    text: 'エージェントは、ルームの鍵がなければ読めません。エージェントの退出後に鍵が残されたかどうかは、誰にも確認できません。',
  },

  bytes: {
    proved: '保存されている内容は、サービスの示すとおりです',
    failed: '保存されたバイト列が、サービスの示すものと異なります',
    text: (count, hash) => `${plural(count, { other: '#バイト' })}、SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: '開けるのはルームの鍵だけです',
    provedText: 'どの行も宛先は一つで、リンクを持つ人です。運営者のための鍵はありません。',
    directText: 'どの行も、リンクからしか得られない鍵で封印されています。鍵は一緒に保存されていません。',
    failed: 'ほかにも開ける人がいます',
    failedText: (names) => `ほかの宛先：${isolated(names)}。`,
  },
  opens: {
    proved: 'あなたの鍵ですべてを開けました',
    provedText: (count) => plural(count, { other: '封印された#行を、この端末で開きました。そのために鍵は送信されていません。' }),
    failed: 'あなたの鍵では開けないものがあります',
    failedText: '保存された行の少なくとも一つが、壊れているか、別の鍵で封印されています。',
  },
  chain: {
    proved: '変更、欠落、挿入はありません',
    provedText:
      '各行は前の行のハッシュを含みます。最初の行から、今回と前回の訪問でこのページに示された最後の行まで、つながっています。',
    failed: '履歴が変更されています',
    breaks: (line) => `連鎖は${number(line)}行目で途切れています。`,
    shorter: 'このブラウザーに最後に示された行が含まれていません。',
  },
  seen: {
    title: 'どの書き手もこの履歴を見ています',
    text: 'どのメッセージにも、書き手が最後に読んだ行とそのハッシュが記されています。そのすべてがここにあります。',
  },
  shown: {
    proved: '表示された内容は、保存された内容と同じです',
    provedText: (count) => plural(count, { other: 'このページの#件のメッセージを、封印されたものと一字一句比べました。' }),
    failed: '保存されていない内容が表示されました',
    failedText: (count, first) =>
      `${plural(count, { other: '#件のメッセージが異なります。' })}最初のものは${number(first)}番です。`,
  },
  certificate: {
    proved: 'ビルドの証明書は署名されています',
    failed: 'ビルドの証明書は本物ではありません',
    text: (service, commit, code) => `${isolated(service)}、コミット ${isolated(commit)}、コード ${isolated(`${code}…`)}`,
  },
  pin: {
    first: 'このブラウザーがこの鍵を見るのは初めてです',
    firstText: (key) =>
      `${isolated(key)} を今後のために記憶しました。変わればこのブラウザーが気付きます。運営者が別の場所で公開しているものと比べてください。`,
    same: '以前と同じ鍵です',
    sameText: (key, day) => `${isolated(key)}。このブラウザーは${day}から知っています。`,
    changed: 'サービスの鍵が変わりました',
    changedText: (key, day) =>
      `${day}からは別の鍵でしたが、今は ${isolated(key)} です。運営者の告知がなければ、ここには書き込まないでください。`,
  },
  source: {
    proved: '公開されたソースは、証明書の示すものです',
    failed: '公開されたソースは、証明書の示すものではありません',
    text: (kilobytes) => `${number(kilobytes)} KB。誰でも読み、ビルドできます。`,
    unreachable: 'ソースを読み込めませんでした',
    unreachableText: 'オンラインのときにもう一度お試しください。',
  },
  attest: {
    proved: '動作中のサービスはその鍵を持ち、同じビルドを示しています',
    provedText: 'このブラウザーがいま生成した乱数に署名しました。',
    failed: '動作中のサービスは、証明書にあるものではありません',
    unsigned: '応答が証明書の鍵で署名されていません。',
    stale: '応答が古いものです。',
    otherBuild: '別のビルドを示しています。',
    unreachable: '動作中のサービスから応答がありませんでした',
    unreachableText: 'その鍵を持ち、同じビルドを示すかどうかは、いま確認できません。しばらくしてからもう一度確認してください。',
  },
  log: {
    unreachable: '公開ログに接続できません',
    unreachableText: '全員に同じ証明書とページが示されているかは、いま確認できません。しばらくしてからもう一度確認してください。',
    notCompared: '表示されている内容は公開ログと照合されていません',
    broken: '公開ログに矛盾があります',
    brokenText: '署名または証明が誤っています。運営者の説明があるまで、ここには書き込まないでください。',
    first: 'このブラウザーが公開ログを見るのは初めてです',
    firstText: (entries: number) =>
      `${plural(entries, { other: '項目#件' })}。記憶しておき、削除や変更があればこのブラウザーが気付きます。`,
    same: '公開ログは、このブラウザーが見たものの続きです',
    sameText: (before: number, now: number) =>
      `以前は${number(before)}件、いまは${number(now)}件です。削除も変更もされていません。`,
    rolledBack: '公開ログが巻き戻されています',
    rolledBackText: 'このブラウザーが見た項目がなくなっています。運営者が古いコピーを復元したか、何かを隠しています。',
    forked: '公開ログが書き換えられています',
    forkedText: '以前とは別の履歴です。ほかの人には別の証明書が示されているかもしれません。',
    other: '別の公開ログです',
    otherText: (name: string) => `いまの名前は ${isolated(name)} です。運営者の告知がなければ、ここには書き込まないでください。`,
    has: '表示されているものは、公開ログにあります',
    hasText: (epochs: number) =>
      plural(epochs, { other: '証明書、ページ、ブラインドトークンの鍵#個は、ほかの人に見えるものと同じです。' }),
    olderText: (epochs: number) => plural(epochs, { other: '古い鍵#個は照合していません。' }),
    unread: 'ブラインドトークンの鍵を、すべては照合できませんでした',
    unreadText: '鍵の一覧が正しくないか、最後まで読み込めませんでした。照合が済むまで、トークンを購入しないでください。',
    lacks: '表示されているものが、公開ログにありません',
    lacksText: (what: string) => `2分たってもないもの：${what}。ほかの人には示されていないものが示されているかもしれません。`,
    notYet: '公開ログには、まだこれがありません',
    notYetText: (what: string) => `まだないもの：${what}。新しいものは2分以内に記録されます。そのあともう一度確認してください。`,
    certificate: '証明書',
    page: 'このページ',
    epoch: 'ブラインドトークンの鍵',
    witnessed: 'ほかの人が公開ログを監視しています',
    witnessedText: (names: string) => `${isolated(names)} が連署しました。あなたと同じログを見ています。`,
    fewWitnesses: '公開ログには立会人がいません',
    fewWitnessesText: '立会人の名前はありますが、連署した立会人の数が足りません。しばらくしてからもう一度確認してください。',
    noWitness: '公開ログには立会人がいません',
    noWitnessText: '全員が同じログを見ていると確認する人はほかにいません。運営者を信頼するか、ほかの人と比べてください。',
  },
}
