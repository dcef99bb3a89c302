import assert from 'node:assert/strict'
import { test } from 'node:test'
import { list, setLocale } from './format.ts'

test('a list separates its items as the language does, and keeps the order of names in right-to-left text', () => {
  const expected = {
    en: 'ann, bob, and cem',
    de: 'ann, bob und cem',
    es: 'ann, bob y cem',
    fr: 'ann, bob et cem',
    ja: 'ann、bob、cem',
    ar: '\u2068ann\u2069 و\u2068bob\u2069 و\u2068cem\u2069',
  }
  for (const [language, words] of Object.entries(expected)) {
    setLocale(language)
    assert.equal(list(['ann', 'bob', 'cem']), words)
  }
})
