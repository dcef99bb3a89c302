import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paragraphs } from './text.ts'

test('the contract’s text becomes paragraphs and lists, and never markup of its own', () => {
  for (const [text, html] of [
    ['One `code`.', '<p>One <code>code</code>.</p>'],
    ['One.\n\nTwo\nlines.', '<p>One.</p><p>Two\nlines.</p>'],
    ['Each:\n- one\n- two\n  goes on', '<p>Each:</p><ul><li>one</li><li>two\ngoes on</li></ul>'],
    ['1. one\n2. two\nAfter.', '<ol><li>one</li><li>two</li></ol><p>After.</p>'],
    ['- a\n1. b', '<ul><li>a</li></ul><ol><li>b</li></ol>'],
    ['A range of -1 - 2, in 2026. Not a list.', '<p>A range of -1 - 2, in 2026. Not a list.</p>'],
    ['- <b>&', '<ul><li>&lt;b&gt;&amp;</li></ul>'],
  ] as const)
    assert.equal(paragraphs(text), html)
})
