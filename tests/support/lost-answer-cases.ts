import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, randomUUID } from 'node:crypto'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { compactDecrypt, importJWK, type JWK } from 'jose'
import { Webhook } from 'standardwebhooks'
import { startHookServer } from '../../packages/server/testing/hook-server.ts'
import { askGood, call } from './call-api.ts'
import { buyLicense, sellCredits } from './credits.ts'
import { assertGood, type LostAnswer } from './lost-answer.ts'
import { replayedAnswers } from './replayed-answers.ts'
import { openConsole } from './role-cells.ts'
import { makeAgent } from './sessions.ts'

/** The lost answers that a repeat does not get: their callers have another way. */
const others: LostAnswer[] = [
  {
    id: 'updateWebhookEndpoint',
    way: 'rotate',
    prepare: async ({ origin, tenant }) => {
      const hooks = await startHookServer()
      const key = tenant.secret
      type Shown = { id: string; secret: string }
      const made = await askGood(origin, 'POST /v1/tenant/webhooks/endpoints', { key, body: { url: hooks.url } })
      const known = made.data as unknown as Shown
      const route = `PATCH /v1/tenant/webhooks/endpoints/${known.id}`
      const options = { key, body: { rotate_secret: true } }
      const recover = async () => {
        try {
          const fresh = (await askGood(origin, route, options)).data as unknown as Shown
          await askGood(origin, 'POST /v1/tenant/webhooks/test', { key, body: { endpoint: known.id } })
          // Events of the other cases arrive here too, and some were sent before the second secret was made.
          const { text, headers } = hooks.hooks.findLast(({ event }) => event.data['test'] === true)!
          for (const { secret } of [fresh, known]) new Webhook(secret).verify(text, headers)
        } finally {
          await hooks.close()
        }
      }
      return { route, options, recover }
    },
  },
  {
    id: 'getCheckout',
    way: 'read again',
    prepare: async ({ origin, tenant }) => {
      const id = await sellCredits(origin, tenant.secret, 'license_key', 7)
      const route = `GET /v1/checkout/${id}`
      const options = { key: tenant.secret }
      const recover = async () => {
        const { license_key } = (await askGood(origin, route, options)).data
        const redeemed = await askGood(origin, 'POST /v1/wallets/redeem', { ...options, body: { license_key } })
        assert.equal((redeemed.data as unknown as { balance: number }).balance, 7)
        assert.equal('license_key' in (await askGood(origin, route, options)).data, false, 'a redeemed key is gone')
      }
      return { route, options, recover }
    },
  },
  {
    id: 'lookUpOutcome',
    way: 'read again',
    prepare: async ({ origin, tenant }) => {
      const [key, idempotencyKey, sent] = [tenant.publishable, randomUUID(), { contributor_policy: 'token' }]
      const made = await askGood(origin, 'POST /v1/collections', { key, idempotencyKey, body: sent })
      const body = {
        idempotency_key: idempotencyKey,
        operation: 'createCollection',
        path: '/v1/collections',
        body_sha256: hash('sha256', JSON.stringify(sent)),
      }
      const [route, options] = ['POST /v1/outcomes/lookup', { key, body }]
      const recover = async () => {
        const { answer } = (await askGood(origin, route, options)).data as unknown as { answer: unknown }
        assert.deepEqual(answer, JSON.parse(made.text))
      }
      return { route, options, recover }
    },
  },
  {
    id: 'getTurnCredentials',
    way: 'ask for another',
    prepare: async ({ origin, tenant }) => {
      const [route, options] = ['GET /v1/turn', { key: tenant.publishable }]
      const recover = async () => {
        const { data } = await askGood(origin, route, options)
        assert.ok((data as unknown as { iceServers: { credential: string }[] }).iceServers[0]!.credential)
      }
      return { route, options, recover }
    },
  },
  {
    id: 'updateMember',
    way: 'ask for another',
    prepare: async ({ origin, tenant }) => {
      const headers = await openConsole(origin, tenant.id)
      const body = { email: 'updated@harbour.example', role: 'analyst' }
      const { data: made } = await askGood(origin, 'POST /v1/tenant/members', { headers, body })
      const [route, options] = [`PATCH /v1/tenant/members/${made.id}`, { headers, body: { invite: true } }]
      const recover = async () => {
        const { data } = await askGood(origin, route, options)
        const { url } = (data as unknown as { invitation: { url: string } }).invitation
        assertGood(await call(origin, 'POST /console/sign-in', { body: { link_secret: url.split('#link=')[1] } }))
      }
      return { route, options, recover }
    },
  },
  {
    id: 'issueIdToken',
    way: 'ask for another',
    prepare: async ({ origin, shelf }) => {
      const { spk } = await createTestDevice()
      const { kty, crv, x, y } = spk
      const options = { key: shelf.agentControl, body: { spk: { kty, crv, x, y } } }
      const route = `POST /sessions/${shelf.things.session}/id-token`
      const recover = async () => {
        const { data } = await askGood(origin, route, options)
        assert.match((data as unknown as { id_token: string }).id_token, /^eyJ/)
      }
      return { route, options, recover }
    },
  },
  {
    id: 'setWebhook',
    way: 'rotate',
    prepare: async (world) => {
      const { origin, tenant } = world
      const hooks = await startHookServer()
      const ask = (body: object) => askGood(origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body })
      const known = (await ask({ url: hooks.url, rotate_secret: true })).data as unknown as { secret: string }
      const body = { url: hooks.url, rotate_secret: true }
      const recover = async () => {
        try {
          const fresh = (await ask(body)).data as unknown as { secret: string }
          await askGood(origin, 'POST /v1/tenant/webhooks/test', { key: tenant.secret, body: {} })
          const { text, headers } = hooks.hooks.findLast(({ event }) => event.data['test'] === true)!
          // Both secrets sign, so a receiver without the new one still verifies.
          for (const { secret } of [fresh, known]) new Webhook(secret).verify(text, headers)
        } finally {
          await hooks.close()
        }
      }
      return { route: 'PUT /v1/tenant/webhooks', options: { key: tenant.secret, body }, recover }
    },
  },
  {
    id: 'updateAgent',
    way: 'rotate',
    prepare: async ({ origin, tenant }) => {
      const agent = await makeAgent(origin, tenant)
      const options = { key: tenant.secret, body: { rotate_signing_secret: true } }
      const route = `PATCH /agents/${agent}`
      const recover = async () => {
        const { data } = await askGood(origin, route, options)
        assert.match((data as unknown as { signing_secret: string }).signing_secret, /^whsec_/)
      }
      return { route, options, recover }
    },
  },
  {
    id: 'redeemWallet',
    way: 'recovery key',
    prepare: async ({ origin, tenant }) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const { kty, crv, x, y } = publicKey.export({ format: 'jwk' }) as JWK
      const body = { license_key: await buyLicense(origin, tenant.secret, 9), recovery_key: { kty, crv, x, y } }
      const [route, options] = ['POST /v1/wallets/redeem', { key: tenant.publishable, body }]
      const recover = async () => {
        const again = await call(origin, route, options)
        assert.equal(again.code, 'already_spent')
        const { details } = (JSON.parse(again.text) as { error: { details: { sealed: string }[] } }).error
        const key = await importJWK(privateKey.export({ format: 'jwk' }) as JWK, 'ECDH-ES+A256KW')
        const code = new TextDecoder().decode((await compactDecrypt(details[0]!.sealed, key)).plaintext)
        const shown = await askGood(origin, 'POST /v1/wallets/lookup', { key: tenant.publishable, body: { wallet_code: code } })
        assert.equal((shown.data as unknown as { balance: number }).balance, 9)
      }
      return { route, options, recover }
    },
  },
]

export const lostAnswers: readonly LostAnswer[] = [...replayedAnswers, ...others]
