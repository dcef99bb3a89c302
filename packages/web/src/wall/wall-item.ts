import { cleanLine, cleanParagraphs, truncate } from '../share/clean-text.ts'

/** An open item as the API returns it. All of it except id, hero and created_at was written by strangers. */
export interface OpenItem {
  id: string
  content: unknown
  author: string | null
  hero: boolean
  created_at: string
}

/** What a wall shows of an item. */
export interface WallItem {
  id: string
  author: string | undefined
  emoji: string | undefined
  heading: string | undefined
  paragraphs: string[][]
  /** Names and values of a content that has none of the fields for text. */
  facts: [name: string, value: string][]
  /** The artifact that the content names. Whether it may be shown is not known here. */
  artifactId: string | undefined
  alt: string | undefined
  hero: boolean
  createdAt: string
}

/** In graphemes. A wall shows how a long text begins. */
const maxText = 1_200
const maxHeading = 200
const maxAuthor = 80
const maxFact = 200
const maxFacts = 6

const textFields = ['text', 'message', 'body', 'comment', 'note', 'content', 'quote', 'answer', 'description', 'caption']
const headingFields = ['title', 'headline', 'heading', 'subject']
const authorFields = ['author', 'name', 'from', 'nickname']
const pictureFields = ['artifact_id', 'artifact', 'picture', 'image', 'photo']
const otherFields = new Set([...pictureFields, 'alt', 'emoji', 'id', 'type', 'v', 'version'])
/** Open items are public. A wall nevertheless does not spread what was more likely meant for the app. */
const privateField = /mail|phone|address|token|secret|password|key|\bip\b/i
const artifactId = /(?:^|\/v1\/media\/)(art_[0-9A-Za-z]{22})$/
// recheck: one property of a string, anchored on both sides.
const emoji = /^\p{RGI_Emoji}$/v

/**
 * Reads an item of any shape: a string or number is its text; of an object, the first field for text, heading, author
 * and picture that is present; an object with none of the first two shows its simple fields as a list. undefined: there
 * is nothing to show.
 */
export function readWallItem({ id, content, author, hero, created_at: createdAt }: OpenItem): WallItem | undefined {
  const fields = fieldsOf(content)
  const paragraphs = cleanParagraphs(firstText(fields, textFields), maxText)
  const heading = cleanLine(firstText(fields, headingFields), maxHeading)
  const name = cleanLine(author, maxAuthor) ?? cleanLine(firstText(fields, authorFields), maxAuthor)
  const picture = firstText(fields, pictureFields, artifactId)
  const item = {
    id,
    author: name,
    emoji: firstText(fields, ['emoji'], emoji),
    heading,
    paragraphs,
    facts: paragraphs.length === 0 && !heading ? factsOf(fields) : [],
    artifactId: picture && artifactId.exec(picture)?.[1],
    alt: cleanLine(fields['alt'], maxFact),
    hero,
    createdAt,
  }
  const isEmpty = !item.emoji && !heading && !picture && paragraphs.length === 0 && item.facts.length === 0
  return isEmpty ? undefined : item
}

/** The whole text of an item, short, for those who hear it. */
export function summaryOf({ author, emoji, heading, paragraphs, facts }: WallItem): string {
  const words = [heading, ...paragraphs.flat(), ...facts.flat(), emoji].filter(Boolean).join(' ')
  return truncate(author ? `${author}: ${words}` : words, 160)
}

function fieldsOf(content: unknown): Record<string, unknown> {
  if (Array.isArray(content)) return { text: content.filter(isSimple).map(String).join('\n') }
  if (typeof content === 'object' && content !== null) return content as Record<string, unknown>
  return isSimple(content) ? { text: String(content) } : {}
}

function isSimple(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** The first of these fields whose value shows something and has the form. Numbers count as their digits. */
function firstText(fields: Record<string, unknown>, names: readonly string[], form?: RegExp): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && (form ? form.test(text) : cleanLine(text, maxHeading) !== undefined)) return text
  }
  return undefined
}

function factsOf(fields: Record<string, unknown>): [string, string][] {
  const facts: [string, string][] = []
  for (const [name, value] of Object.entries(fields)) {
    if (facts.length === maxFacts) break
    if (!isSimple(value) || otherFields.has(name) || authorFields.includes(name) || privateField.test(name)) continue
    const [label, text] = [
      cleanLine(name.replaceAll('_', ' '), 60),
      cleanLine(typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value), maxFact),
    ]
    if (label && text) facts.push([label, text])
  }
  return facts
}
