import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAppOfBundle } from './certified-app.ts'
import { CheckFailed } from './report.ts'

const rowsOf = (rows: unknown) => `// embedded:atrium:embedded\nvar gitCommit = "x";\nvar app = ${JSON.stringify(rows)};\n`
const page = { path: '/space', body: 'YQ==' }
const asset = { path: '/space/assets/a.js', body: 'YQ==' }
const bundles: readonly (readonly [string, string, RegExp])[] = [
  ['no files', rowsOf([]), /contains no files of the app/],
  ['no page', rowsOf([asset]), /\/space is missing/],
  ['a file twice', rowsOf([asset, asset]), /twice/],
  ['the app twice', rowsOf([asset]).repeat(2), /the app twice/],
  ['a file without a body', rowsOf([{ path: '/space' }]), /cannot be found/],
  ['a file elsewhere', rowsOf([{ path: '@evil.example/x', body: '' }]), /cannot be found/],
  ['what is no list', '// embedded:atrium:embedded\nvar app = [}];\n', /cannot be found/],
  ['a line of brackets', `// embedded:atrium:embedded\nvar app = ${'['.repeat(1_000_000)}\n`, /cannot be found/],
]
for (const [name, bundle, said] of bundles) {
  test(`certified code with ${name} is no app`, () => {
    assert.throws(
      () => readAppOfBundle(Buffer.from(bundle)),
      (error) => error instanceof CheckFailed && said.test(error.message),
    )
  })
}

test('the files are those that the build embedded, wherever in the code they stand', () => {
  for (const before of ['', '"use strict"\n', '// packages/a.ts\nvar app = [];\n']) {
    const files = readAppOfBundle(Buffer.from(before + rowsOf([page, asset])))
    assert.deepEqual(
      files.map(({ path, body }) => `${path} ${body.toString()}`),
      ['/space a', '/space/assets/a.js a'],
    )
  }
})
