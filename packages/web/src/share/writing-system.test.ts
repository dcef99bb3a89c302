import assert from 'node:assert/strict'
import test from 'node:test'
import { directionOf, languageOf } from './writing-system.ts'

test('a language is named only where the letters tell it', () => {
  const cases = {
    'The evening': '',
    'Le soir à Paris': '',
    'המים שקטים': 'he',
    'هذا المساء': 'und-Arab',
    最後の夕べ: 'ja',
    晚上好: 'zh',
    저녁: 'ko',
  }
  for (const [text, language] of Object.entries(cases)) assert.equal(languageOf(text), language, text)
  assert.equal(languageOf('2026 — ✨'), '')
  assert.equal(languageOf('Review: المساء'), 'und-Arab')
})

test('the first letter decides the direction', () => {
  assert.equal(directionOf('(2026) ערב'), 'rtl')
  assert.equal(directionOf('«المساء» tonight'), 'rtl')
  assert.equal(directionOf('Tonight: المساء'), 'ltr')
  assert.equal(directionOf('123'), 'ltr')
})
