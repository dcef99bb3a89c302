import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { HOUSE_COLOURS } from './house-style.ts'

test('the pages of no tenant have the colours of the Space app', async () => {
  const css = await readFile(new URL('../space/style/tokens.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = css.split('@media screen and (prefers-color-scheme: dark)')
  for (const [name, { token, ...colours }] of Object.entries(HOUSE_COLOURS)) {
    const find = (sheet: string) => new RegExp(`--${token}: (#[0-9a-f]+);`).exec(sheet)?.[1]
    assert.deepEqual(colours, { light: find(light), dark: find(dark) }, name)
  }
})
