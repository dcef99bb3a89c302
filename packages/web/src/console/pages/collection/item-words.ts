import type { Item } from './use-curation.ts'

/** The fields of a content that people write, in the order in which they are shown. */
const textFields = ['emoji', 'title', 'text', 'message', 'body', 'comment', 'note', 'name'] as const
const MAX_LENGTH = 400

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

function cut(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`
}
