import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../scripts/check-regular-expressions.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-regular-expressions-'))
after(() => rmSync(folder, { recursive: true }))

function check(code: string): { status: number | null; stderr: string } {
  writeFileSync(join(folder, 'code.tsx'), code)
  return spawnSync(process.execPath, [script, join(folder, '*.tsx')], { encoding: 'utf8' })
}

const slow = [
  ['exponential', 'export const slow = /^(a|a)*$/', /code\.tsx:1: .*\n {2}exponential/],
  ['quadratic', 'export const slow = (x: string) => x.replace(/=+$/, "")', /2nd degree polynomial/],
  ['given as text', "export const slow = new RegExp('^(a+)+$', 'u')", /exponential/],
  ['put together at run time', 'export const slow = (x: string) => new RegExp(x)', /put together at run time/],
  ['explained by nothing', '// recheck:\nexport const slow = /^(a+)+$/', /exponential/],
] as const
for (const [name, code, said] of slow) {
  test(`a regular expression that is ${name} fails the check`, () => {
    const { status, stderr } = check(code)
    assert.equal(status, 1)
    assert.match(stderr, said)
  })
}

test('linear ones pass, and those whose input the comment above explains', () => {
  const { status, stderr } = check('export const a = /^[a-z]+$/i\n// recheck: our own text.\nexport const b = /^(a+)+$/')
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

test('a check of nothing fails', () => assert.equal(check('').status, 1))
