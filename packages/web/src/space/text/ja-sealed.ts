import { line } from './format.ts'
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
}
