import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { auditWords, isAuditedOperation } from './audit-words.ts'
import { isAudited } from './operation.ts'
import { servedOperations } from './table.ts'

test('every operation that leaves an entry in the audit log has words for it', () => {
  const audited = servedOperations.filter(isAudited).map(({ id }) => id)
  assert.deepEqual(
    audited.filter((id) => !isAuditedOperation(id)),
    [],
  )
})

test('the entry that SQL writes when old entries are removed has words too', () => {
  const store = readFileSync(new URL('../../server/src/features/audit-log/audit-log-store.ts', import.meta.url), 'utf8')
  const names = [...store.matchAll(/'system', '(\w+)'/g)].map(([, name = '']) => name)
  assert.ok(names.length > 0)
  assert.deepEqual(
    names.filter((name) => !isAuditedOperation(name)),
    [],
  )
})

test('the words are plain text that begins with a capital letter, and no two operations have the same', () => {
  const words = Object.values(auditWords)
  assert.equal(new Set(words).size, words.length)
  for (const text of words) assert.match(text, /^[A-Z][a-z]*(?: [a-z-]+)+$/)
})
