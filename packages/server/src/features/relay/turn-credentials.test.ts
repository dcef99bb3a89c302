import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnCredentials } from './turn-credentials.ts'

test("credentials are those of coturn's REST scheme, and expire in an hour", () => {
  const now = Date.parse('2026-11-20T08:30:00.999Z')
  // Computed with: printf %s USERNAME | openssl dgst -sha1 -hmac SECRET -binary | base64
  assert.deepEqual(turnCredentials('a secret shared with the relay', 'ten_4fRzK0vXcB1mQwErTy7uPa', now), {
    username: '1795167000:ten_4fRzK0vXcB1mQwErTy7uPa',
    credential: 'dRuBi1VXo9J5q8fdhB0SFbeXFd4=',
    expiresAt: new Date('2026-11-20T09:30:00.000Z'),
  })
})
