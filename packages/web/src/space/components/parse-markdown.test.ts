import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../../server/testing/processor-block.ts'
import { DEAD_LINKS, INJECTIONS } from '../testing/markdown-injections.ts'
import { type Inline, parseInlines, textOf } from './parse-inlines.ts'
import { type Block, parseMarkdown, plainTextOf } from './parse-markdown.ts'

/** A block as a short text: `p(one <strong two>)`. */
function show(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `p(${showInlines(block.inlines)})`
    case 'heading':
      return `h${block.level}(${showInlines(block.inlines)})`
    case 'code':
      return `code[${block.language}](${block.text})`
    case 'list':
      return `${block.start === undefined ? 'ul' : `ol${block.start}`}(${block.items.map((item) => item.map(show).join('')).join('; ')})`
    case 'quote':
      return `quote(${block.blocks.map(show).join('')})`
    case 'table':
      return `table(${[block.head, ...block.rows].map((row) => row.map(showInlines).join(' | ')).join('; ')})`
    case 'rule':
      return 'rule'
  }
}

function showInlines(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.kind === 'text') return inline.text
      if (inline.kind === 'code') return `<code ${inline.text}>`
      const words = showInlines(inline.children)
      return inline.kind === 'link'
        ? `<${inline.href} ${words}${inline.host ? ` @${inline.host}` : ''}>`
        : `<${inline.kind} ${words}>`
    })
    .join('')
}

const shown = (text: string) => parseMarkdown(text).map(show).join(' ')

describe('blocks', () => {
  for (const [text, expected] of [
    ['# One\n## Two ##\nthree', 'h1(One) h2(Two) p(three)'],
    ['#hashtag', 'p(#hashtag)'],
    ['One\n===\nTwo\n---\n---', 'h1(One) h2(Two) rule'],
    ['one\ntwo\n\nthree', 'p(one\ntwo) p(three)'],
    ['- a\n- b\n  - c\n  - d\n- e', 'ul(p(a); p(b)ul(p(c); p(d)); p(e))'],
    ['3. a\n4. b\n\n5. c', 'ol3(p(a); p(b); p(c))'],
    ['* a\n\n  more of a\n* b\nlazy', 'ul(p(a)p(more of a); p(b\nlazy))'],
    ['It was in\n1999. A year.', 'p(It was in\n1999. A year.)'],
    ['> one\n> > two', 'quote(p(one)quote(p(two)))'],
    ['```ts\nconst a = `b`\n\n# not\n```\nafter', 'code[ts](const a = `b`\n\n# not) p(after)'],
    ['~~~~\n```\n~~~~', 'code[](```)'],
    ['```\nopen until the end', 'code[](open until the end)'],
    ['- a\n  ```\n  x\n    y\n  ```', 'ul(p(a)code[](x\n  y))'],
    ['| a | b |\n|---|:-:|\n| 1 | `x\\|y` | 3 |\n| 2 |\nafter', 'table(a | b; 1 | <code x|y>; 2 | ) p(after)'],
    ['a | b\n---', 'h2(a | b)'],
    ['***', 'rule'],
    ['', ''],
  ] as const)
    test(JSON.stringify(text), () => assert.equal(shown(text), expected))
})

describe('emphasis, code and links', () => {
  for (const [text, expected] of [
    ['**b** *i* __b__ _i_ ~~s~~', '<strong b> <emphasis i> <strong b> <emphasis i> <strike s>'],
    ['***both***', '<strong <emphasis both>>'],
    ['**bold *and* more**', '<strong bold <emphasis and> more>'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['**open *and open', '**open *and open'],
    ['`a *b* \\` c', '<code a *b* \\> c'],
    ['`` a`b ``', '<code a`b>'],
    ['`open', '`open'],
    ['\\*not\\* \\a', '*not* \\a'],
    ['[docs](https://a.example/x_y)', '<https://a.example/x_y docs @a.example>'],
    ['[**b**](https://a.example/(x)) (y)', '<https://a.example/(x) <strong b> @a.example> (y)'],
    ['[t](https://a.example "title")', '<https://a.example/ t @a.example>'],
    [
      'see https://a.example/_x_*, or **https://b.example**',
      'see <https://a.example/_x https://a.example/_x>_*, or <strong <https://b.example/ https://b.example>>',
    ],
    ['<https://a.example>', '<https://a.example/ https://a.example>'],
    ['![alt](https://a.example/p.png)', '<https://a.example/p.png alt @a.example>'],
    ['[[inner](https://a.example)](https://b.example)', '<https://b.example/ inner @b.example>'],
    ['xhttps://a.example', 'xhttps://a.example'],
  ] as const)
    test(JSON.stringify(text), () => assert.equal(showInlines(parseInlines(text)), expected))
})

describe('the words of a link never name another place than it leads to', () => {
  for (const [text, expected] of [
    ['[https://bank.example](https://evil.example/x)', '<https://evil.example/x https://evil.example/x>'],
    ['[bank.example](https://evil.example)', '<https://evil.example/ https://evil.example>'],
    ['[Bank](https://evil.example)', '<https://evil.example/ Bank @evil.example>'],
    ['[ ](https://evil.example)', '<https://evil.example/ https://evil.example>'],
  ] as const)
    test(text, () => assert.equal(showInlines(parseInlines(text)), expected))
})

test(`${INJECTIONS.length} injections become text, or links by the rules for plain text`, () => {
  assert.ok(INJECTIONS.length >= 40)
  for (const text of INJECTIONS)
    for (const { href } of linksOf(parseMarkdown(text))) assert.match(href, /^https?:\/\/[^@]*$/, text)
  for (const text of DEAD_LINKS) assert.deepEqual(linksOf(parseMarkdown(text)), [], text)
})

test('any text is read, quickly, and loses nothing but marks', () => {
  const pieces = [
    '*',
    '**',
    '_',
    '~~',
    '`',
    '``',
    '[',
    ']',
    '(',
    ')',
    '](',
    '![',
    '<',
    '>',
    '\\',
    '|',
    '#',
    '- ',
    '1. ',
    '> ',
    '---',
    '```',
    '\n',
    '\n\n',
    '  ',
    'word',
    'https://a.example/',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (parts) => {
      const words = parts.filter((part) => part === 'word').length
      assert.equal(
        plainTextOf(parseMarkdown(parts.join(''))).split('word').length - 1 >= words - addressed(parts),
        true,
        parts.join(''),
      )
    }),
  )
  for (const piece of [...pieces, '[a](', '*a **b ', '`'.repeat(7) + ' ', '> - ', '|a', '- a\n ', '**a', '[![']) {
    const started = processorMs()
    parseMarkdown(piece.repeat(Math.ceil(16_384 / piece.length)))
    const ms = processorMs() - started
    assert.ok(ms < 1_000, `${JSON.stringify(piece)}: ${ms} ms`)
  }
})

/** Words that may be part of an address, an info string or a dropped table cell. */
function addressed(parts: readonly string[]): number {
  return /https|```|~~~|\||\]\(|\\/.test(parts.join('')) ? parts.length : 0
}

function linksOf(blocks: readonly Block[]): (Inline & { kind: 'link' })[] {
  const of = (inlines: readonly Inline[]): (Inline & { kind: 'link' })[] =>
    inlines.flatMap((inline) => [
      ...(inline.kind === 'link' ? [inline] : []),
      ...('children' in inline ? of(inline.children) : []),
    ])
  return blocks.flatMap((block) => {
    if ('inlines' in block) return of(block.inlines)
    if (block.kind === 'quote') return linksOf(block.blocks)
    if (block.kind === 'list') return block.items.flatMap(linksOf)
    return block.kind === 'table' ? [block.head, ...block.rows].flat().flatMap(of) : []
  })
}

test('what is read out has no marks', () => {
  assert.equal(plainTextOf(parseMarkdown('# Hi\n- **a**\n- [b](https://b.example)')), 'Hi. a. b')
  assert.equal(textOf(parseInlines('**a** `b`')), 'a b')
})
