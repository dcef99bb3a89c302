import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closest } from './closest.ts'

const names = ['share_title', 'share_description', 'theme', 'q']

test('finds what a word is a typo of', () => {
  const found = ['share_titel', 'shareTitle', 'SHARE-TITLE', 'share_tilte', 'share_tite', 'them', 'share_desciption']
  assert.deepEqual(
    found.map((word) => closest(word, names)),
    ['share_title', 'share_title', 'share_title', 'share_title', 'share_title', 'theme', 'share_description'],
  )
})

test('finds nothing for another word, a short one or a very long one', () => {
  for (const word of ['colour', 'p', '', 'me', '🎃', `share_title${'e'.repeat(100_000)}`])
    assert.equal(closest(word, names), undefined)
})
