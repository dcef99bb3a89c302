import { languageOf } from '../share/writing-system.ts'
import type { WallItem } from './wall-item.ts'

/**
 * An element that the server writes as HTML and the page creates from a message. Strings are text. Attributes come
 * only from `itemElement`; none runs code, and none loads anything except a picture of this origin.
 */
export interface Element {
  tag: string
  attributes: Readonly<Record<string, string>>
  children: readonly (Element | string)[]
}

/** A picture that may be shown. */
export interface WallPicture {
  artifactId: string
  alt: string | undefined
  size: { width: number; height: number } | undefined
}

/** The longest texts, in characters, that are shown large and largest. */
const [shortText, tinyText] = [140, 48]

interface Showing {
  picture?: WallPicture | undefined
  /** In which the day is written. */
  language: string
}

/** The list item of an item. */
export function itemElement(item: WallItem, { picture, language }: Showing): Element {
  const { id, author, emoji, heading, paragraphs, facts, hero, createdAt } = item
  const children = [
    ...(picture ? [element('figure', {}, [pictureElement(picture, item)])] : []),
    ...(emoji ? [element('p', { class: 'emoji' }, [emoji])] : []),
    ...(heading ? [element('h2', wordsOf(heading), [heading])] : []),
    ...(paragraphs.length > 0 ? [element('div', { class: 'text' }, paragraphs.map(paragraphElement))] : []),
    ...(facts.length > 0 ? [element('dl', {}, facts.map(factElement))] : []),
    element('p', { class: 'by' }, [
      ...(author ? [element('span', { class: 'author', ...wordsOf(author) }, [author]), ' '] : []),
      // The page has the direction of its title. The time may be in a language with another direction.
      element('time', { datetime: createdAt, dir: 'auto' }, [dayOf(createdAt, language)]),
    ]),
  ]
  return element('li', { id, class: ['item', hero ? 'hero' : '', sizeOf(item, picture)].filter(Boolean).join(' ') }, children)
}

function element(tag: string, attributes: Element['attributes'], children: Element['children']): Element {
  return { tag, attributes, children }
}

function wordsOf(text: string): Element['attributes'] {
  return { lang: languageOf(text), dir: 'auto' }
}

function paragraphElement(lines: string[]): Element {
  const children = lines.flatMap((line, index) => (index === 0 ? [line] : [element('br', {}, []), line]))
  return element('p', wordsOf(lines.join(' ')), children)
}

function factElement([name, value]: [string, string]): Element {
  return element('div', {}, [element('dt', wordsOf(name), [name]), element('dd', wordsOf(value), [value])])
}

function pictureElement({ artifactId, alt, size }: WallPicture, item: WallItem): Element {
  const address = (width: number) => `/v1/media/${artifactId}?w=${width}`
  const attributes = {
    src: address(640),
    srcset: `${address(640)} 640w, ${address(1280)} 1280w`,
    sizes: item.hero ? '(min-width: 60rem) 50vw, 100vw' : '(min-width: 40rem) 24rem, 100vw',
    alt: item.alt ?? alt ?? '',
    decoding: 'async',
    loading: 'lazy',
    ...(size ? { width: String(size.width), height: String(size.height) } : {}),
  }
  return element('img', attributes, [])
}

/** In UTC, so that the page is the same for everyone. With JavaScript it becomes a relative time. */
function dayOf(createdAt: string, language: string): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(createdAt),
  )
}

function sizeOf({ heading, paragraphs, facts }: WallItem, picture: WallPicture | undefined): string {
  const length = paragraphs.flat().join(' ').length
  if (picture || heading || facts.length > 0 || length > shortText) return ''
  return length > tinyText ? 'short' : 'tiny'
}
