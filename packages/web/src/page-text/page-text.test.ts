import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Forms } from './en.ts'
import { englishText, isolated, pageLanguages, pluralOf, readPageText } from './page-text.ts'

test('the languages are those of the Space app', () => {
  const catalogues = readdirSync(new URL('../space/text', import.meta.url)).filter((name) => /^[a-z]{2}\.ts$/.test(name))
  assert.deepEqual(pageLanguages.toSorted(), catalogues.map((name) => name.slice(0, 2)).toSorted())
})

test('the language of the highest quality is chosen, then the first; without one that there is, English', () => {
  for (const [header, language] of [
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['pt-BR,pt;q=0.9', 'en'],
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-at;Q=0.8', 'de'],
    ['pt, ja;q=0.7, fr;q=0.8', 'fr'],
    ['en;q=0.5, ar', 'ar'],
    ['es;q=0, fr;q=0.1', 'fr'],
    ['de;q=2, ja;q=x, es;q=-1', 'en'],
    ['den, deutsch', 'en'],
    ['__proto__, constructor', 'en'],
    [`${'pt,'.repeat(40)}de`, 'en'],
    [' ; ,;q=1,,fr ;q=0.3', 'fr'],
  ] as const) {
    assert.equal(readPageText(header).language, language, header)
  }
})

for (const language of pageLanguages) {
  test(`every text is there, with its parameters and plural forms: ${language}`, () => {
    const text = readPageText(language)
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
    for (const part of ['share', 'wall', 'checkout', 'signIn'] as const) {
      assert.deepEqual(Object.keys(text[part]), Object.keys(englishText[part]))
      for (const [name, said] of Object.entries<string | Forms | ((given: string) => string)>(text[part])) {
        if (typeof said === 'string') assert.match(said, /\S/, name)
        else if (typeof said === 'function') assert.match(said('⟨given⟩'), /⟨given⟩/, name)
        else assert.deepEqual(Object.keys(said).toSorted(), categories, name)
        // Texts go into the page as they are.
        assert.doesNotMatch(typeof said === 'string' ? said : (JSON.stringify(said) ?? ''), /[<>&]/, name)
      }
    }
  })
}

test('numbers and addresses are written as the language has them', () => {
  const [arabic, german] = [readPageText('ar'), readPageText('de')]
  assert.equal(pluralOf(german, german.checkout.amount, 12_500), '12.500 Credits')
  assert.equal(pluralOf(arabic, arabic.checkout.amount, 2), 'رصيدان')
  assert.equal(isolated(arabic, 'a.example'), '\u2068a.example\u2069')
  assert.equal(isolated(german, 'a.example'), 'a.example')
})
