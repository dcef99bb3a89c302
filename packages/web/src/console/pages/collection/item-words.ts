import { isolated } from '../../../space/text/format.ts'
import type { Item } from './use-curation.ts'

/** The fields of a content that people write, in the order in which they are shown. */
const textFields = ['emoji', 'title', 'text', 'message', 'body', 'comment', 'note', 'name'] as const
const MAX_LENGTH = 400
const MAX_NAME_LENGTH = 60

/** What an item says, in a few lines. */
export function itemWords({ content, type }: Pick<Item, 'content' | 'type'>): string {
  if (type === 'sealed') return 'Sealed: only the holder of the box’s private key can read it.'
  if (typeof content === 'string') return cut(content)
  if (typeof content === 'object' && content !== null) {
    const fields = content as Record<string, unknown>
    const words = textFields.flatMap((name) => (typeof fields[name] === 'string' && fields[name] !== '' ? [fields[name]] : []))
    if (words.length > 0) return cut(words.join(' · '))
  }
  return cut(JSON.stringify(content) ?? '')
}

/** The beginning of what an item says, as its name in a sentence. */
export function itemName(item: Pick<Item, 'content' | 'type'>): string {
  return `“${isolated(cut(itemWords(item), MAX_NAME_LENGTH))}”`
}

function cut(text: string, max = MAX_LENGTH): string {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max).join('')}…`
}
