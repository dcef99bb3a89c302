import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { blindSign } from '../../packages/client/src/blind-sign.ts'
import { finishToken, prepareToken } from '../../packages/client/src/blind-token.ts'
import { createClient } from '../../packages/client/src/create-client.ts'
import { epochOf } from '../../packages/client/src/epoch-of.ts'
import { issuerAccount, platformAccount, transactionId } from '../../packages/server/src/features/credits/ledger/movement.ts'
import { startTestApi, type TestApi, type TestTenant } from '../../packages/server/testing/test-api.ts'
import { skipWithoutChromium, startTestBrowser, startTestServer } from '../../packages/web/src/testing/start-test-browser.ts'

let api: TestApi
let issuer: TestTenant
let shop: TestTenant
before(async () => {
  api = await startTestApi()
  ;[issuer, shop] = await Promise.all([api.makeTenant('Issuer'), api.makeTenant('Shop')])
  const funding = { type: 'transfer', kind: 'prefund', from: platformAccount, to: issuerAccount(issuer.id) } as const
  await api.ctx.ledger.add({
    ...funding,
    id: transactionId('test', randomUUID()),
    amountCredits: 1_000,
    actor: issuer.id,
  })
})
after(() => api.close())

/** A published key, and its private half, which only the issuer's server has. */
async function openEpoch(modulusLength: number, value = 10) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
  const { kty, n, e } = publicKey.export({ format: 'jwk' }) as { kty: 'RSA'; n: string; e: string }
  const { data } = await createClient({ baseUrl: api.baseUrl, key: issuer.secretKey }).publishEpoch({
    body: { public_key: { kty, n, e }, value },
  })
  return { epoch: data.epoch, privateKey }
}

for (const bits of [2_048, 4_096]) {
  test(`an app makes a token of ${bits} bits with an issuer that never sees it, and redeems it once at another tenant`, async () => {
    const { epoch, privateKey } = await openEpoch(bits, 25)
    const app = createClient({ baseUrl: api.baseUrl, key: shop.publishableKey })
    const { public_key: publicKey } = (await app.getEpoch({ epoch })).data
    assert.equal(await epochOf(publicKey), epoch)
    const prepared = await prepareToken(publicKey)
    const body = await finishToken(prepared, blindSign(privateKey, prepared.blinded))
    const { data } = await app.redeemWallet({ body })
    assert.equal(data.balance, 25)
    const wallet = await app.lookUpWallet({ body: { wallet_code: data.wallet_code } })
    assert.equal(wallet.data.balance, 25)
    await assert.rejects(app.redeemWallet({ body }), { code: 'already_spent' })
  })
}

test('a token is valid only in its own epoch', async () => {
  const [one, other] = [await openEpoch(2_048), await openEpoch(2_048)]
  const app = createClient({ baseUrl: api.baseUrl, key: shop.publishableKey })
  const prepared = await prepareToken((await app.getEpoch({ epoch: one.epoch })).data.public_key)
  const body = await finishToken(prepared, blindSign(one.privateKey, prepared.blinded))
  await assert.rejects(app.redeemWallet({ body: { ...body, epoch: other.epoch } }), { status: 400, code: 'invalid_request' })
  assert.equal((await app.redeemWallet({ body })).status, 201)
})

const root = fileURLToPath(new URL('../..', import.meta.url))
const bundle = (contents: string) =>
  build({
    absWorkingDir: root,
    stdin: { contents, resolveDir: `${root}tests/inside` },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    tsconfigRaw: '{}',
    logLevel: 'silent',
  })

test('the main entry of the client does not load blind signatures', async () => {
  const inputsOf = async (contents: string) => Object.keys((await bundle(contents)).metafile.inputs)
  const isArithmetic = (file: string) => file.includes('blindrsa-ts')
  const main = await inputsOf(`export { createClient } from '../../packages/client/src/create-client.ts'`)
  assert.deepEqual(main.filter(isArithmetic), [])
  assert.ok((await inputsOf(`export * from '../../packages/client/src/blind-token.ts'`)).some(isArithmetic))
})

const page = `
import { finishToken, prepareToken } from '../../packages/client/src/blind-token.ts'
import { createClient } from '../../packages/client/src/create-client.ts'

globalThis.buyAndRedeem = async (baseUrl, key, epoch) => {
  const app = createClient({ baseUrl, key })
  const { data } = await app.getEpoch({ epoch })
  const prepared = await prepareToken(data.public_key)
  const body = await finishToken(prepared, await signBlinded(prepared.blinded))
  return (await app.redeemWallet({ body })).data.balance
}`

test('a page in a browser does the same from another origin', { skip: skipWithoutChromium }, async () => {
  const { epoch, privateKey } = await openEpoch(2_048, 7)
  const script = (await bundle(page)).outputFiles[0]!.text
  const server = await startTestServer((req, res) => {
    if (req.url === '/app.js') res.setHeader('content-type', 'text/javascript').end(script)
    else res.setHeader('content-type', 'text/html').end('<!doctype html><script type="module" src="/app.js"></script>')
  })
  const browser = await startTestBrowser()
  try {
    const tab = await browser.newPage()
    await tab.exposeFunction('signBlinded', (blinded: string) => blindSign(privateKey, blinded))
    await tab.goto(server.origin)
    const args = [api.baseUrl, shop.publishableKey, epoch].map((text) => JSON.stringify(text)).join(', ')
    assert.equal(await tab.evaluate(`buyAndRedeem(${args})`), 7)
  } finally {
    await browser.close()
    server.stop()
  }
})
