import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { askGood } from '../support/call-api.ts'
import { queryDatabase } from '../support/query-database.ts'
import { startSpaceRole, type SpaceRole } from '../support/space-role.ts'

test('the role that install.md makes for Space serves rooms, and reads nothing of tenants', async (t) => {
  const database = await createTestDatabase()
  const role = `space_${randomBytes(6).toString('hex')}`
  let space: SpaceRole | undefined
  t.after(async () => {
    await space?.end()
    await queryDatabase(database.url, `drop owned by ${role}`)
    await queryDatabase(database.url, `drop role ${role}`)
    await database.drop()
  })
  const page = await readFile(new URL('../../docs/operating/install.md', import.meta.url), 'utf8')
  const [, block = ''] = /```\n(create role atrium_space [^`]*)```/.exec(page) ?? []
  for (const statement of block.replaceAll('atrium_space', role).trim().split('\n')) await queryDatabase(database.url, statement)
  const url = new URL(database.url)
  url.username = role
  await assert.rejects(queryDatabase(url.href, 'select from tenants'), /permission denied/)
  space = await startSpaceRole(url.href, 'http://localhost:1')
  const room = { room: randomBytes(16).toString('hex'), mk: randomBytes(32).toString('hex') }
  for (const text of ['one', 'two'])
    await askGood(space.origin, 'POST /space', { body: { op: 'turn', ...room, message: { text } } })
  const { text } = await askGood(space.origin, 'POST /space', { body: { op: 'poll', ...room, sinceEtag: '', sinceCount: 0 } })
  assert.equal((JSON.parse(text) as { count: number }).count, 3)
})
