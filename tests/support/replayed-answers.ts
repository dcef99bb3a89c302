import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { startHookServer } from '../../packages/server/testing/hook-server.ts'
import { askGood, call, makeCollection, untilKeyEnded, type AnswerData, type CallOptions } from './call-api.ts'
import { attempts } from './crash-attempts.ts'
import { assertGood, type LostAnswer } from './lost-answer.ts'
import { openConsole } from './role-cells.ts'
import { launchBody, startBudgetedSession } from './sessions.ts'
import type { ShelfWorld } from './shelf-world.ts'
import { dot } from './upload-file.ts'

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
const prepared: LostAnswer[] = [
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
        await untilKeyEnded(origin, key)
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
    id: 'createConsoleLink',
    way: 'replay',
    prepare: (world) =>
      Promise.resolve(
        replay(world, 'POST /v1/operator/console-links', { operator: true, body: { kind: 'operator' } }, async (data) => {
          const { url } = data as unknown as { url: string }
          assertGood(await call(world.origin, 'POST /console/sign-in', { body: { link_secret: url.split('#link=')[1] } }))
        }),
      ),
  },
  {
    id: 'createMember',
    way: 'replay',
    prepare: async (world) => {
      const { origin, tenant } = world
      const headers = await openConsole(origin, tenant.id)
      const body = { email: 'invited@harbour.example', role: 'analyst' }
      return replay(world, 'POST /v1/tenant/members', { headers, body }, async (data) => {
        const { url } = (data as unknown as { invitation: { url: string } }).invitation
        assertGood(await call(origin, 'POST /console/sign-in', { body: { link_secret: url.split('#link=')[1] } }))
      })
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
]

/** The lost answers that a repeat with the same Idempotency-Key gets. */
export const replayedAnswers: readonly LostAnswer[] = [...prepared, ...others]
