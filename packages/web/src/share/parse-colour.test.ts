import assert from 'node:assert/strict'
import test from 'node:test'
import { toHex } from './colour.ts'
import { COLOUR_NAMES } from './colour-names.ts'
import { parseColour } from './parse-colour.ts'

test('every form of the grammar is read', () => {
  const cases: Record<string, string> = {
    '#0af': '#00aaff',
    '#0AF8': '#00aaff',
    '#00aaff': '#00aaff',
    rebeccapurple: '#663399',
    ' Tomato ': '#ff6347',
    'rgb(0, 170, 255)': '#00aaff',
    'rgba(0,170,255,.5)': '#00aaff',
    'rgb(0 170 255 / 50%)': '#00aaff',
    'rgb(100% 0% 50%)': '#ff0080',
    'rgb(300 -20 0)': '#ff0000',
    'hsl(200, 100%, 50%)': '#00aaff',
    'hsl(200deg 100% 50%)': '#00aaff',
    'hsl(0.5turn 100 50)': '#00ffff',
    'hsl(-160 100% 50%)': '#00aaff',
    'oklch(62.8% 0.25768 29.2339)': '#ff0000',
    'oklch(1 0 none)': '#ffffff',
    'oklch(0 0 0 / 1)': '#000000',
  }
  for (const [text, hex] of Object.entries(cases)) {
    const parsed = parseColour(text)
    assert.equal(parsed && toHex(parsed.colour), hex, text)
  }
  assert.equal(COLOUR_NAMES.size, 148)
  assert.equal(parseColour('rgb(0 0 0 / 25%)')?.alpha, 0.25)
})

test('anything else is no colour', () => {
  const refused = [
    '',
    '#',
    '#12',
    '#12345',
    '#1234567',
    '#ggg',
    'red;',
    'red}',
    'red;background:url(//x)',
    'url(x)',
    'var(--x)',
    'currentcolor',
    'transparent',
    'inherit',
    'constructor',
    '__proto__',
    'rgb()',
    'rgb(1 2)',
    'rgb(1 2 3 4)',
    'rgb(1,2 3)',
    'rgb(1 2 3 / 4 / 5)',
    'rgb(1deg 2 3)',
    'rgb(1e999 2 3)',
    'rgb(calc(1) 2 3)',
    'rgb(1 2 3)/**/',
    'hsl(1 2deg 3)',
    'oklch(1, 2, 3)',
    'oklcha(1 0 0)',
    'expression(alert(1))',
    '</style>',
    '#fff\n;',
    `#${'f'.repeat(1_000_000)}`,
    `rgb(${' '.repeat(1_000_000)}1 2 3)`,
    0xffffff,
    null,
    ['red'],
    { toString: () => 'red' },
  ]
  for (const value of refused) assert.equal(parseColour(value), undefined, String(value).slice(0, 40))
})
