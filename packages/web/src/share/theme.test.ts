import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { contrast, toHex } from './colour.ts'
import { MIN_MARK_CONTRAST, MIN_TEXT_CONTRAST, readTheme, type Palette, type Theme } from './theme.ts'

function palettes(theme: Theme): Palette[] {
  return 'palette' in theme ? [theme.palette] : [theme.light, theme.dark]
}

function only(theme: Theme): Palette {
  assert.ok('palette' in theme)
  return theme.palette
}

function assertReadable(theme: Theme): void {
  for (const { background, surface, text, muted, accent } of palettes(theme)) {
    for (const words of [text, muted]) {
      for (const behind of [background, surface])
        assert.ok(contrast(words, behind) >= MIN_TEXT_CONTRAST, `${toHex(words)} on ${toHex(behind)}`)
    }
    assert.ok(contrast(accent, background) >= MIN_MARK_CONTRAST, `${toHex(accent)} on ${toHex(background)}`)
  }
}

test('contrast is that of WCAG', () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21)
  assert.equal(contrast([119, 119, 119], [255, 255, 255]).toFixed(2), '4.48')
})

test('the named themes are fixed and readable', () => {
  for (const name of ['light', 'dark', 'paper', 'neon']) {
    assertReadable(readTheme(name))
    assert.equal(palettes(readTheme(name)).length, 1)
  }
  assert.equal(toHex(only(readTheme('paper')).background), '#f7f2e8')
})

test('without a theme that means something, the visitor chooses between light and dark', () => {
  for (const value of [
    undefined,
    null,
    'sepia',
    'Light',
    'constructor',
    '__proto__',
    7,
    ['dark'],
    {},
    { background: 'url(x)' },
  ]) {
    assert.deepEqual(readTheme(value), readTheme(undefined))
    assert.deepEqual(
      palettes(readTheme(value)).map((palette) => palette.scheme),
      ['light', 'dark'],
    )
  }
  assertReadable(readTheme(undefined))
})

test('readable colours are taken as they are', () => {
  const { background, surface, text, muted, accent, scheme } = only(
    readTheme({ background: '#102030', surface: '#203040', text: 'white', muted: 'hsl(210 20% 80%)', accent: 'gold' }),
  )
  assert.deepEqual([background, surface, text, muted, accent].map(toHex), ['#102030', '#203040', '#ffffff', '#c2ccd6', '#ffd700'])
  assert.equal(scheme, 'dark')
})

test('text under 4.5 on its background falls back, just above stays', () => {
  assert.equal(toHex(only(readTheme({ background: '#fff', text: '#777' })).text), '#11141c')
  assert.equal(toHex(only(readTheme({ background: '#fff', text: '#767676' })).text), '#767676')
  // The contrast of translucent text is computed from the resulting colour.
  assert.equal(toHex(only(readTheme({ background: '#fff', text: 'rgb(0 0 0 / 30%)' })).text), '#11141c')
})

test('an accent alone keeps the visitor’s preference, where it can be seen', () => {
  const theme = readTheme({ accent: '#ffd700' })
  assert.deepEqual(
    palettes(theme).map((palette) => toHex(palette.accent)),
    ['#9e3d1e', '#ffd700'],
  )
})

test('a text or surface alone finds a background that goes with it', () => {
  assert.equal(only(readTheme({ text: 'white' })).scheme, 'dark')
  assert.equal(toHex(only(readTheme({ text: '#0000aa' })).text), '#0000aa')
  assert.equal(only(readTheme({ surface: '#111' })).scheme, 'dark')
})

test('inherited keys are no theme', () => {
  assert.deepEqual(readTheme(Object.create({ background: 'red' })), readTheme(undefined))
  assert.deepEqual(readTheme(JSON.parse('{"__proto__":{"background":"red"}}')), readTheme(undefined))
})

test('whatever colours are asked for, everything can be read', () => {
  const channel = fc.integer({ min: 0, max: 255 })
  const colour = fc.option(fc.tuple(channel, channel, channel, fc.double({ min: 0, max: 1, noNaN: true })), { nil: undefined })
  const theme = fc.record({ background: colour, surface: colour, text: colour, muted: colour, accent: colour })
  fc.assert(
    fc.property(theme, (asked) => {
      const css = Object.entries(asked).map(([key, value]) => [
        key,
        value && `rgb(${value.slice(0, 3).join(' ')} / ${value[3].toFixed(3)})`,
      ])
      assertReadable(readTheme(Object.fromEntries(css)))
    }),
    { numRuns: 5_000 },
  )
})
