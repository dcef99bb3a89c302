import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayHost } from './display-host.ts'

const shown = (typed: string) => displayHost(typed, new URL(`https://${typed}/`).hostname)

for (const host of [
  'example.com',
  'xn--80ak6aa92e.com',
  'münchen.de',
  'français.fr',
  'łódź.pl',
  'пример.рф',
  'президент.рф',
  'παράδειγμα.gr',
  '例え.jp',
  'みんな.jp',
  '東京tokyo.jp',
  'サービス.jp',
  '中文.tw',
  '한국어.kr',
  'مثال.com',
  'उदाहरण.com',
  'דוגמה.com',
  '127.0.0.1',
]) {
  test(`${host} is shown as it was typed`, () => assert.equal(shown(host), host))
}

for (const [host, why] of [
  ['аpple.com', 'a Cyrillic letter among Latin ones'],
  ['аррӏе.com', 'Cyrillic letters that look like Latin ones'],
  ['раураl.com', 'Cyrillic and one Latin letter'],
  ['gοοgle.com', 'Greek letters among Latin ones'],
  ['οικ.com', 'Greek letters that look like Latin ones'],
  ['exаmple.com', 'one Cyrillic letter'],
  ['bank.comノlogin.example.jp', 'Katakana that looks like a slash'],
  ['exampleー.com', 'a stroke that looks like a dash'],
  ['g\u0261ogle.com', 'another Latin letter'],
  ['tw\u0131tter.com', 'a dotless i'],
  ['example\u0338.com', 'a mark over a letter'],
  ['ᎪᏢᏢᏞᎬ.com', 'a script that nobody uses every day'],
  ['exam৪le.com', 'a digit that looks like another'],
  ['кириллицаlatin.com', 'two alphabets'],
  ['օսո.com', 'Armenian letters that look like Latin ones'],
] as const) {
  test(`${why}: ${host} is shown as it is asked for`, () => {
    assert.match(shown(host), /xn--/)
    assert.doesNotMatch(shown(host), /[^\x21-\x7e]/)
  })
}

test('letters that mean others are shown as those that they mean', () => {
  assert.equal(shown('ｅｘａｍｐｌｅ.com'), 'example.com')
  assert.equal(shown('ⓔxample.com'), 'example.com')
  assert.equal(shown('example。com'), 'example.com')
  assert.equal(shown('EXAMPLE.com'), 'example.com')
})
