import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, beforeEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseVerifier } from '@atrium/log/note'
import { verifyProof } from '@atrium/log/proof'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { integrateLeaves } from '#features/transparency-log/integrate.ts'
import { publishCheckpoint } from '#features/transparency-log/publish.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { clearOf } from '../../../../../../tests/support/clear-of.ts'
import { skipWithout } from '../../../../../../tests/support/skip-without.ts'
import { postMovements } from '../ledger/ledger.ts'
import { issuerAccount, platformAccount, transactionId, type AccountRef } from '../ledger/movement.ts'
import { logBooks } from './log-books.ts'

const oracle = fileURLToPath(new URL('../../../../../../tests/oracles/verify-books.py', import.meta.url))
const skip = skipWithout('python3')

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi({ publicUrl: 'https://atrium.example.com' })
  tenant = await api.makeTenant()
})
beforeEach(() => clearOf('day'))
after(() => api.close())

let count = 0
/** Credits that somebody bought: in the issuer's balance, or in a wallet. */
async function fund(to: AccountRef, amountCredits: number, walletCode?: string): Promise<void> {
  const id = transactionId('test', String(++count))
  const opens = walletCode ? { opens: { kind: 'wallet' as const, codeHash: hashCredential(walletCode) } } : {}
  const transfer = {
    type: 'transfer',
    kind: 'prefund',
    id,
    from: platformAccount,
    to,
    amountCredits,
    actor: tenant.id,
    ...opens,
  } as const
  assert.deepEqual(await api.ctx.db.transaction((tx) => postMovements(tx, [transfer])), ['posted'])
}
const rows = async (sql: string, values: unknown[] = []) => (await api.ctx.db.pool.query(sql, values)).rows
/** As if the roots had been made some days ago. */
const daysPass = async (days: number) => {
  for (const table of ['books_tiles', 'books_roots']) await rows(`update ${table} set day = day - $1::integer`, [days])
}
const ownProofs = (query = '') => send(api, 'GET', `/books/proof${query}`, { key: tenant.secretKey })
const walletProofs = (code: string) =>
  send(api, 'POST', '/books/proof/lookup', { key: tenant.publishableKey, body: { wallet_code: code } })
const verify = (answer: string) => spawnSync('python3', [oracle], { input: answer, encoding: 'utf8' })

test('before the first root there is nothing to prove, and no credits are a root too', async () => {
  assert.deepEqual((await ownProofs()).body.data, { books: null, proofs: [] })
  await logBooks(api.ctx)
  const { books, proofs } = (await ownProofs()).body.data
  assert.deepEqual([books.accounts, books.total, proofs], [0, 0, []])
  await daysPass(1)
})

let codes: string[]

test('the books of a day have one root, with all accounts and their sum', async () => {
  await fund(issuerAccount(tenant.id), 700)
  codes = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const code = newCredential('walletCode')
      await fund({ tenantId: tenant.id, id: newAccountId() }, i + 1, code)
      return code
    }),
  )
  await logBooks(api.ctx)
  await logBooks(api.ctx)
  assert.equal((await rows('select from books_roots')).length, 2, 'one root a day')
  const { books } = (await ownProofs()).body.data
  assert.deepEqual([books.accounts, books.total], [21, 910])
})

test('each holder proves its balance to be part of the logged total, with Python alone', { skip }, async () => {
  const own = await ownProofs()
  const { books } = own.body.data
  const said = verify(own.text)
  assert.equal(said.status, 0, said.stderr)
  assert.match(said.stdout, new RegExp(`^${tenant.id}/issuer: 700 of 910 credits\n`))
  for (const [i, code] of [...codes.entries()].filter(([at]) => at % 7 === 0)) {
    const wallet = verify((await walletProofs(code)).text)
    assert.match(wallet.stdout, new RegExp(`: ${i + 1} of 910 credits\n`), wallet.stderr)
  }
  await integrateLeaves(api.ctx.db, 100)
  await publishCheckpoint(api.ctx)
  const leaf = /leaf hash ([0-9a-f]{64})/.exec(said.stdout)![1]
  assert.equal(books.log_proof, `https://atrium.example.com/log/proof/${leaf}`)
  const proof = await (await fetch(`${api.origin}/log/proof/${leaf}`)).text()
  const { log_proof: _, day, accounts, total, root } = books
  const entry = Buffer.from(JSON.stringify({ type: 'books', day, accounts, total, root }))
  verifyProof(proof, entry, [parseVerifier((await (await fetch(`${api.origin}/log/vkey`)).text()).trim())])
})

test('a proof for a higher balance, or with a sum that was lowered, is refused', { skip }, async () => {
  const { body } = await ownProofs()
  const [proof] = body.data.proofs
  for (const change of [
    () => (proof.balance += 1),
    () => (proof.path[0].sum -= 1),
    () => (proof.path[0].sum = -5),
    () => (body.data.books.total += 1),
  ]) {
    const before = structuredClone(body)
    change()
    assert.equal(verify(JSON.stringify(body)).status, 1)
    Object.assign(body.data.books, before.data.books)
    Object.assign(proof, before.data.proofs[0])
  }
  assert.equal(verify(JSON.stringify(body)).status, 0)
})

test('nobody sees the accounts of others: a proof names its own, and an unknown code proves nothing', async () => {
  const other = await api.makeTenant()
  assert.deepEqual((await send(api, 'GET', '/books/proof', { key: other.secretKey })).body.data.proofs, [])
  assert.deepEqual((await walletProofs(newCredential('walletCode'))).body.data.proofs, [])
  const { proofs } = (await ownProofs()).body.data
  assert.deepEqual(
    proofs.map(({ account }: { account: string }) => account),
    [`${tenant.id}/issuer`],
  )
  assert.deepEqual(Object.keys(proofs[0].path[0]).toSorted(), ['hash', 'side', 'sum'])
})

test('roots stay, and proofs are kept for a week', async () => {
  const { day } = (await ownProofs()).body.data.books
  await daysPass(3)
  const [then] = await rows("select to_char(max(day), 'YYYY-MM-DD') as day from books_roots")
  assert.notEqual(then!.day, day)
  assert.equal((await ownProofs(`?day=${then!.day}`)).body.data.proofs.length, 1)
  await daysPass(5)
  await logBooks(api.ctx)
  const [old] = await rows(
    "select to_char(max(day), 'YYYY-MM-DD') as day from books_roots where day < (now() at time zone 'utc')::date",
  )
  const { books, proofs } = (await ownProofs(`?day=${old!.day}`)).body.data
  assert.deepEqual([books.total, proofs], [910, []])
  assert.equal((await ownProofs('?day=2001-01-01')).body.data.books, null)
  assert.equal((await ownProofs('?day=0000-01-01')).status < 500, true)
})

test('books that do not balance are not logged, and processes at once make one root', async () => {
  await daysPass(1)
  const leaves = async () => (await rows("select from log_leaves where entry like '%books%'")).length
  const before = await leaves()
  await rows(`begin; set local session_replication_role = replica;
    update ledger_accounts set balance = balance + 1 where id = 'issuer' and balance > 0; commit`)
  await assert.rejects(logBooks(api.ctx), /hold 911 credits, and 910 are in circulation/)
  await rows(`begin; set local session_replication_role = replica;
    update ledger_accounts set balance = balance - 1 where id = 'issuer' and balance > 0; commit`)
  assert.equal(await leaves(), before)
  await Promise.allSettled(Array.from({ length: 4 }, () => logBooks(api.ctx)))
  assert.equal(await leaves(), before + 1)
  assert.equal((await ownProofs()).body.data.proofs.length, 1)
})
