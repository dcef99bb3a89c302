import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeError } from '@atrium/client/error-of-answer'
import { failureOf } from './failure.ts'

const errorWith = (message: string, details: { path: string; message: string }[]) =>
  makeError({ status: 400, code: 'invalid_request', message, details })

test('an error of a single field is shown only once', () => {
  const url = { path: '/url', message: 'The address must begin with https.' }
  const name = { path: '/name', message: 'is too long' }
  const text = '/url: The address must begin with https.'
  assert.equal(failureOf(errorWith(text, [url])).message, text)
  assert.equal(failureOf(errorWith('Two fields.', [url, name])).message, `Two fields. · ${text} · /name: is too long`)
})

test('the message does not repeat an error that is shown at its field', () => {
  const url = { path: '/url', message: 'The address must begin with https.' }
  const name = { path: '/name', message: 'is too long' }
  const shown = new Set(['/url'])
  assert.equal(failureOf(errorWith('/url: x', [url]), shown).message, 'This was not accepted. The marked field says why.')
  assert.equal(failureOf(errorWith('Two fields.', [url, name]), shown).message, 'Two fields. · /name: is too long')
  assert.equal(failureOf(errorWith('No details.', []), shown).message, 'No details.')
  const part = errorWith('Two fields.', [
    { path: '/url/host', message: 'is private' },
    { path: '/urls', message: 'is unknown' },
  ])
  assert.equal(failureOf(part, shown).message, 'Two fields. · /urls: is unknown')
})
