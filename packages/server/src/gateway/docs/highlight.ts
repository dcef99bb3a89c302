import { escapeHtml } from '@atrium/web/share/escape-html'

const keywords = {
  ts: 'as async await break case catch class const continue else export extends finally for from function if import in instanceof interface let new of return satisfies switch throw try type typeof while yield true false null undefined',
  python:
    'and as assert async await break class continue def elif else except finally for from if import in is lambda not or pass raise return try while with yield True False None',
  sh: 'case do done elif else esac export fi for if in read then while',
  json: 'true false null',
}

const double = String.raw`"(?:[^"\\]|\\.)*"`
const single = String.raw`'(?:[^'\\]|\\.)*'`

const number = String.raw`\b\d[\d_.]*\b`

/** The patterns in the order in which they are tried. Text that matches none stays plain. */
const languages: Record<string, RegExp> = {
  ts: words({ comment: '//.*', string: `${double}|${single}|\`(?:[^\`\\\\]|\\\\.)*\``, number, keyword: keywords.ts }),
  python: words({ comment: '#.*', string: `${double}|${single}`, number, keyword: keywords.python }),
  // The guides use this name, which is also a file extension.
  py: words({ comment: '#.*', string: `${double}|${single}`, number, keyword: keywords.python }),
  // Within single quotes, a shell does not interpret a backslash.
  sh: words({ comment: '(?<![^\\s])#.*', string: `${double}|'[^']*'`, attr: String.raw`\$\{?\w+\}?`, keyword: keywords.sh }),
  json: words({ attr: String.raw`${double}(?=\s*:)`, string: double, number, keyword: keywords.json }),
}

function words({ keyword, ...kinds }: { keyword: string } & Record<string, string>): RegExp {
  const groups = Object.entries(kinds).map(([name, pattern]) => `(?<${name}>${pattern})`)
  // recheck: read once, at the start, from the documentation's own examples.
  return new RegExp([...groups, `(?<keyword>\\b(?:${keyword.replaceAll(' ', '|')})\\b)`].join('|'), 'g')
}

/**
 * Renders code as HTML, with a class for each kind of word. Text in a language that is not listed stays plain. It
 * recognises words and no grammar: that is enough for the examples, with less code than a library needs.
 */
export function highlight(code: string, language: string): string {
  const pattern = languages[language]
  if (!pattern) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    html += `${escapeHtml(code.slice(end, match.index))}<span class="h-${kind}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}

const names: Record<string, string> = {
  sh: 'Shell',
  ts: 'TypeScript',
  json: 'JSON',
  python: 'Python',
  py: 'Python',
  http: 'HTTP',
  sql: 'SQL',
}

/**
 * Renders a block of code that can be scrolled with the keyboard. The script of the pages adds a button for copying
 * to its bar.
 */
export function codeBlock(code: string, language: string, title = names[language] ?? ''): string {
  return (
    `<div class="code" data-language="${escapeHtml(language)}"><div class="bar"><span>${escapeHtml(title)}</span></div>` +
    `<pre tabindex="0" role="group" aria-label="${escapeHtml(title || 'Text')}"><code>${highlight(code, language)}</code></pre></div>`
  )
}
