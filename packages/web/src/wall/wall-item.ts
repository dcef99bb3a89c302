import { cleanLine, cleanParagraphs, truncate } from '../share/clean-text.ts'

/** An open item as the API returns it. Strangers wrote all of it except id, hero and created_at. */
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
  /** Names and values of a content without any of the text fields. */
  facts: [name: string, value: string][]
  /** The artifact that the content names. Whether it may be shown is decided elsewhere. */
  artifactId: string | undefined
  alt: string | undefined
  hero: boolean
  createdAt: string
}

/** Limits in graphemes. A wall shows the beginning of a long text. */
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
/** Fields that a wall omits although the items are open, because they were probably meant for the app. */
const privateField = /mail|phone|address|token|secret|password|key|\bip\b/i
const artifactId = /(?:^|\/v1\/media\/)(art_[0-9A-Za-z]{22})$/
let emoji: RegExp | undefined

/**
 * Reads an item of any shape. A string or number is its text. In an object, the first field for text, heading, author
 * and picture is used; an object without text and heading shows its simple fields as a list. Returns undefined if
 * there is nothing to show.
 */
export function readWallItem(
  { id, content, author, hero, created_at: createdAt }: OpenItem,
  words: { yes: string; no: string },
): WallItem | undefined {
  const fields = fieldsOf(content)
  const paragraphs = cleanParagraphs(firstText(fields, textFields), maxText)
  const heading = cleanLine(firstText(fields, headingFields), maxHeading)
  const name = cleanLine(author, maxAuthor) ?? cleanLine(firstText(fields, authorFields), maxAuthor)
  const picture = firstText(fields, pictureFields, artifactId)
  const item = {
    id,
    author: name,
    // recheck: one property of a string, anchored on both sides. Compiled on first use: that takes
    // longer than loading this module.
    emoji: firstText(fields, ['emoji'], (emoji ??= /^\p{RGI_Emoji}$/v)),
    heading,
    paragraphs,
    facts: paragraphs.length === 0 && !heading ? factsOf(fields, words) : [],
    artifactId: picture && artifactId.exec(picture)?.[1],
    alt: cleanLine(fields['alt'], maxFact),
    hero,
    createdAt,
  }
  const isEmpty = !item.emoji && !heading && !picture && paragraphs.length === 0 && item.facts.length === 0
  return isEmpty ? undefined : item
}

/** The text of an item in short, for screen readers. */
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

/** The first of these fields whose value is not empty and has the form. Numbers count as their digits. */
function firstText(fields: Record<string, unknown>, names: readonly string[], form?: RegExp): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && (form ? form.test(text) : cleanLine(text, maxHeading) !== undefined)) return text
  }
  return undefined
}

function factsOf(fields: Record<string, unknown>, { yes, no }: { yes: string; no: string }): [string, string][] {
  const facts: [string, string][] = []
  for (const [name, value] of Object.entries(fields)) {
    if (facts.length === maxFacts) break
    if (!isSimple(value) || otherFields.has(name) || authorFields.includes(name) || privateField.test(name)) continue
    const [label, text] = [
      cleanLine(name.replaceAll('_', ' '), 60),
      cleanLine(typeof value === 'boolean' ? (value ? yes : no) : String(value), maxFact),
    ]
    if (label && text) facts.push([label, text])
  }
  return facts
}
