import { CheckFailed } from './report.ts'

/** The scripts that a browser with scripting enabled loads and runs for a page. */
export interface PageScripts {
  /** The exact texts of script elements without src, which hashes in the policy cover. */
  readonly inline: readonly string[]
  /** The URLs of script elements and preloads, unchanged. */
  readonly files: readonly string[]
}

/** Elements whose content ends only at their own end tag. */
const RAW_TEXT = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript'])

/** Inside these elements the parsing rules differ, so that a scanner could miss a script. */
const OTHER_RULES = new Set(['svg', 'math', 'select', 'frameset', 'plaintext'])

/**
 * Finds the scripts of a page in one pass: each character is read once or twice, whatever the page contains. Parses
 * tags as the HTML standard does (https://html.spec.whatwg.org/multipage/parsing.html), and rejects a page that
 * needs more of the standard than tags.
 */
export function findScripts(page: string): PageScripts {
  const html = page.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  if (html.includes('\0')) throw new CheckFailed('the page contains NUL characters')
  const inline: string[] = []
  const files: string[] = []
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const tag = readTag(html, at)
    at = tag.end
    if (tag.kind !== 'start') continue
    if (OTHER_RULES.has(tag.name))
      throw new CheckFailed(`the page contains <${tag.name}>, inside of which scripts cannot be identified`)
    const text = RAW_TEXT.has(tag.name) ? readRawText(html, at, tag.name) : ''
    at += text.length
    const source = tag.attributes.get('src')
    if (tag.name === 'script' && source === undefined) inline.push(text)
    if (tag.name === 'script' && source !== undefined) files.push(source)
    const preloaded = tag.name === 'link' && isPreload(tag.attributes) ? tag.attributes.get('href') : undefined
    if (preloaded !== undefined) files.push(preloaded)
  }
  return { inline, files }
}

type Tag =
  | { readonly kind: 'start'; readonly name: string; readonly attributes: ReadonlyMap<string, string>; readonly end: number }
  | { readonly kind: 'other'; readonly end: number }

/** Reads what begins with the `<` at `start`. */
function readTag(html: string, start: number): Tag {
  if (html.startsWith('<!--', start)) return { kind: 'other', end: endOfComment(html, start) }
  if (/^<!doctype[\t\n\f ]/i.test(html.slice(start, start + 10))) return { kind: 'other', end: after(html, '>', start) }
  if (html[start + 1] === '!' || html[start + 1] === '?')
    throw new CheckFailed('the page contains a declaration that is not a doctype')
  const isEnd = html[start + 1] === '/'
  const nameAt = start + (isEnd ? 2 : 1)
  if (!/^[a-z]$/i.test(html[nameAt] ?? '')) {
    if (isEnd) throw new CheckFailed('the page contains an end tag without a name')
    return { kind: 'other', end: start + 1 } // a `<` that is text
  }
  const nameEnd = skip(html, nameAt, (character) => !isSpace(character) && character !== '/' && character !== '>')
  const { attributes, end } = readAttributes(html, nameEnd)
  return isEnd ? { kind: 'other', end } : { kind: 'start', name: lowerCase(html.slice(nameAt, nameEnd)), attributes, end }
}

/** The first `-->` or `--!>`; `<!-->` and `<!--->` are comments too. */
function endOfComment(html: string, start: number): number {
  const short = /^<!--(?:-?>)/.exec(html.slice(start, start + 6))
  if (short) return start + short[0].length
  for (let at = html.indexOf('--', start + 4); at !== -1; at = html.indexOf('--', at + 1)) {
    if (html[at + 2] === '>') return at + 3
    if (html[at + 2] === '!' && html[at + 3] === '>') return at + 4
  }
  throw new CheckFailed('the page contains a comment without an end')
}

function readAttributes(html: string, start: number): { attributes: ReadonlyMap<string, string>; end: number } {
  const attributes = new Map<string, string>()
  for (let at = start; ;) {
    at = skip(html, at, (character) => isSpace(character) || character === '/')
    if (at >= html.length) throw new CheckFailed('the page contains a tag without an end')
    if (html[at] === '>') return { attributes, end: at + 1 }
    // An equals sign in the first place belongs to the name.
    const nameEnd = skip(html, at + 1, (character) => !isSpace(character) && !'/>='.includes(character))
    const name = lowerCase(html.slice(at, nameEnd))
    at = skip(html, nameEnd, isSpace)
    const value = html[at] === '=' ? readValue(html, skip(html, at + 1, isSpace)) : { text: '', end: nameEnd }
    at = value.end
    if (!attributes.has(name)) attributes.set(name, value.text)
  }
}

function readValue(html: string, start: number): { text: string; end: number } {
  const quote = html[start]
  if (quote === '"' || quote === "'") {
    const end = after(html, quote, start + 1)
    return { text: html.slice(start + 1, end - 1), end }
  }
  const end = skip(html, start, (character) => !isSpace(character) && character !== '>')
  return { text: html.slice(start, end), end }
}

/** The text up to the element's own end tag. */
function readRawText(html: string, start: number, name: string): string {
  // recheck: the name is one of RAW_TEXT, and nothing is repeated.
  const endTag = new RegExp(`</${name}[\\t\\n\\f />]`, 'gi')
  endTag.lastIndex = start
  const found = endTag.exec(html)
  if (!found) throw new CheckFailed(`the page contains a <${name}> without an end`)
  const text = html.slice(start, found.index)
  // After `<!--`, a script's text may hold a whole script element.
  if (name === 'script' && text.includes('<!--')) throw new CheckFailed('the page contains a script with <!-- in it')
  return text
}

function isPreload(attributes: ReadonlyMap<string, string>): boolean {
  const words = lowerCase(attributes.get('rel') ?? '').split(/[\t\n\f ]/)
  return words.includes('modulepreload') || words.includes('preload')
}

function after(html: string, text: string, start: number): number {
  const at = html.indexOf(text, start)
  if (at === -1) throw new CheckFailed(`the page contains ${html.slice(start, start + 20)} without an end`)
  return at + text.length
}

function skip(html: string, start: number, passes: (character: string) => boolean): number {
  let at = start
  while (at < html.length && passes(html.charAt(at))) at++
  return at
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\f'
}

/** Lower-cases only A to Z, as the HTML standard requires. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
