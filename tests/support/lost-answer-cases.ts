import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, randomUUID } from 'node:crypto'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { compactDecrypt, importJWK, type JWK } from 'jose'
import { Webhook } from 'standardwebhooks'
import { startHookServer } from '../../packages/server/testing/hook-server.ts'
import { askGood, call, makeCollection, type Answer, type AnswerData, type CallOptions } from './call-api.ts'
import { attempts } from './crash-attempts.ts'
import { sellCredits, buyLicense } from './credits.ts'
import { openConsole } from './role-cells.ts'
import type { ShelfWorld } from './shelf-world.ts'
import { launchBody, makeAgent, startBudgetedSession } from './sessions.ts'
import { dot } from './upload-file.ts'

/** What a caller can do after a lost response. docs/decisions/0017-lost-answers.md explains each. */
type WayBack = 'replay' | 'read again' | 'ask for another' | 'rotate' | 'recovery key'

/** A request whose answer is lost, and what its caller then does. */
export interface LostAnswer {
  /** The operation. */
  id: string
  name?: string
  way: WayBack
  prepare: (world: ShelfWorld) => Promise<{
    route: string
    options: CallOptions
    /** Gets the contents of the lost answer, and checks that they work. */
    recover: () => Promise<void>
  }>
}

const idempotencyKey = () => randomUUID()

type Works = (data: AnswerData) => Promise<unknown>

/** The same request with the same Idempotency-Key gets the first answer. */
function replay({ origin }: ShelfWorld, route: string, options: CallOptions, works: Works) {
  const keyed = { ...options, idempotencyKey: options.idempotencyKey ?? idempotencyKey() }
  const recover = async () => {
    const answer = await askGood(origin, route, keyed)
    assert.equal(answer.headers['idempotency-status'], 'replayed', route)
    await works(answer.data)
  }
  return { route, options: keyed, recover }
}

/** Prepared like in the crash matrix, with a check that the contents of the answer work. */
const replayed: LostAnswer[] = [
  'signUpTenant',
  'createTenant',
  'createInvite',
  'createOperatorCredential',
  'createKey',
  'createCollection',
  'registerAgent',
  'grantCoupon',
  'launchSession',
  'summonSession',
].map((id) => ({
  id,
  way: 'replay',
  prepare: async (world) => {
    const { route, options, works } = await attempts[id]!(world.origin)
    return replay(world, route, options, async (data) => assertGood(await works(world.origin, data)))
  },
}))

function assertGood({ status, text }: Answer): void {
  assert.ok(status < 300, `${status} ${text}`)
}

const others: LostAnswer[] = [
  {
    id: 'createKey',
    name: 'a key that rotates itself and ends at once',
    way: 'replay',
    prepare: async (world) => {
      const { origin } = world
      const { data: made } = await askGood(origin, 'POST /v1/tenants', { operator: true, body: { name: 'Rotates' } })
      const key = made.secret_key
      const keys = (await askGood(origin, 'GET /v1/tenant/keys', { key })).data as unknown as { id: string; kind: string }[]
      const rotates = keys.find(({ kind }) => kind === 'secret')!.id
      return replay(world, 'POST /v1/tenant/keys', { key, body: { kind: 'secret', rotates } }, async (data) => {
        await askGood(origin, 'GET /v1/tenant', { key: data.key })
        assert.equal((await call(origin, 'GET /v1/tenant', { key })).code, 'unauthorized')
      })
    },
  },
  {
    id: 'createWebhookEndpoint',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const hooks = await startHookServer()
      return replay(
        world,
        'POST /v1/tenant/webhooks/endpoints',
        { key: tenant.secret, body: { url: hooks.url } },
        async (data) => {
          try {
            const { id, secret } = data as unknown as { id: string; secret: string }
            await askGood(origin, 'POST /v1/tenant/webhooks/test', { key: tenant.secret, body: { endpoint: id } })
            const { text, headers } = hooks.hooks[0]!
            new Webhook(secret).verify(text, headers)
          } finally {
            await hooks.close()
          }
        },
      )
    },
  },
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
          const { text, headers } = hooks.hooks[0]!
          for (const { secret } of [fresh, known]) new Webhook(secret).verify(text, headers)
        } finally {
          await hooks.close()
        }
      }
      return { route, options, recover }
    },
  },
  {
    id: 'launchSession',
    name: 'an armed room',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant, shelf } = world
      const body = { ...(await launchBody(origin, tenant, shelf.things.agent!)), arm: true }
      return replay(world, 'POST /v1/sessions', { key: tenant.secret, body }, (data) =>
        askGood(origin, 'POST /sessions/summon', { body: { summon_key: data.summon_key } }),
      )
    },
  },
  {
    id: 'topUpSession',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const { id, control: key, coupon } = await startBudgetedSession(origin, tenant)
      const body = { coupon, budget_credits: 3 }
      return replay(world, `POST /v1/sessions/${id}/top-up`, { key, body }, async () => {
        const { data } = await askGood(origin, `GET /sessions/${id}`, { key })
        assert.equal((data as unknown as { budget_credits: number }).budget_credits, 5, 'it is held once')
      })
    },
  },
  {
    id: 'updateCollection',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const { id, token } = await makeCollection(origin, tenant.publishable)
      const options = { key: tenant.publishable, token, body: { contributor_policy: 'token' } }
      return replay(world, `PATCH /v1/collections/${id}`, options, (data) =>
        askGood(origin, `POST /v1/collections/${id}/items`, {
          key: tenant.publishable,
          token: data.contributor_token,
          body: { type: 'message', content: 1 },
        }),
      )
    },
  },
  {
    id: 'rotateCollectionTokens',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const { id } = await makeCollection(origin, tenant.publishable)
      const options = { key: tenant.secret, body: { rotate: ['admin_token'] } }
      return replay(world, `POST /v1/collections/${id}/tokens`, options, (data) =>
        askGood(origin, `GET /v1/collections/${id}/items`, { key: tenant.publishable, token: data.admin_token }),
      )
    },
  },
  {
    id: 'uploadArtifact',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const { id, token } = await makeCollection(origin, tenant.publishable)
      const options = { key: tenant.publishable, token }
      const artifacts = `/v1/collections/${id}/artifacts`
      const body = { kind: 'image', mime: 'image/png', bytes: dot.length }
      return replay(world, `POST ${artifacts}/upload`, { ...options, body }, async (data) => {
        const { upload } = data as unknown as { upload: { url: string; headers: Record<string, string> } }
        const headers = { 'content-type': 'image/png' }
        assert.equal((await fetch(upload.url, { method: 'PUT', headers, body: new Uint8Array(dot) })).status, 200)
        await askGood(origin, `POST ${artifacts}/${data.id}/ready`, options)
      })
    },
  },
  {
    id: 'paintArtifact',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const { id, token } = await makeCollection(origin, tenant.publishable)
      const options = { key: tenant.publishable, token }
      return replay(world, `POST /v1/collections/${id}/paint`, { ...options, body: { prompt: 'a lamp' } }, async (data) => {
        const listed = await askGood(origin, `GET /v1/collections/${id}/artifacts`, options)
        assert.deepEqual(
          (listed.data as unknown as { id: string }[]).map((one) => one.id),
          [data.id],
        )
      })
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
    id: 'createConsoleLink',
    way: 'ask for another',
    prepare: async ({ origin }) => {
      const [route, options] = ['POST /v1/operator/console-links', { operator: true, body: { kind: 'operator' } }] as const
      const recover = async () => {
        const { data } = await askGood(origin, route, options)
        const secret = (data as unknown as { url: string }).url.split('#link=')[1]
        assertGood(await call(origin, 'POST /console/sign-in', { body: { link_secret: secret } }))
      }
      return { route, options, recover }
    },
  },
  ...['createMember', 'updateMember'].map((id): LostAnswer => ({
    id,
    way: 'ask for another',
    prepare: async ({ origin, tenant }) => {
      const headers = await openConsole(origin, tenant.id)
      const email = `${id.toLowerCase()}@harbour.example`
      const create = { headers, body: { email, role: 'analyst' } }
      const find = async () => {
        const { data } = await askGood(origin, 'GET /v1/tenant/members', { headers })
        return (data as unknown as { id: string; email: string }[]).find((member) => member.email === email)!.id
      }
      if (id === 'updateMember') await askGood(origin, 'POST /v1/tenant/members', create)
      const again = { headers, body: { invite: true } }
      const [route, options] =
        id === 'createMember'
          ? (['POST /v1/tenant/members', create] as const)
          : ([`PATCH /v1/tenant/members/${await find()}`, again] as const)
      const recover = async () => {
        const { data } = await askGood(origin, `PATCH /v1/tenant/members/${await find()}`, again)
        const { url } = (data as unknown as { invitation: { url: string } }).invitation
        assertGood(await call(origin, 'POST /console/sign-in', { body: { link_secret: url.split('#link=')[1] } }))
      }
      return { route, options, recover }
    },
  })),
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

export const lostAnswers: readonly LostAnswer[] = [...replayed, ...others]
