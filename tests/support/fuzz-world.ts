import { randomId } from './matrix-world.ts'
import { agentControlToken } from './agent-endpoint.ts'
import type { Answer, AnswerData, TestTenant } from './call-api.ts'
import type { Plan } from './fuzz-plans.ts'
import type { Stock } from './fuzz-stock.ts'

export interface Kept {
  tenant: TestTenant
  id: string
  owner: string
  contributor: string
  gone: boolean
  parts: Part[]
}

export interface Part {
  kind: 'item' | 'artifact'
  id: string
  collection: Kept
  gone: boolean
}

/** A sent request, and what was known about its target at that time. */
export interface Sent {
  plan: Plan
  route: string
  headers: Record<string, string>
  collection: Kept | undefined
  part: Part | undefined
  /** It names a thing that was deleted before the request was sent. */
  ofGone: boolean
}

/** Things of which only the id or the text is known. */
const listed = ['invite', 'key', 'cursor', 'tenant', 'agent', 'epoch', 'checkout', 'event', 'coupon', 'summon'] as const
type Listed = (typeof listed)[number] | keyof Stock

interface Talk {
  id: string
  agentId: string
  control: string
  /** Once a remote agent was called with it. */
  agentControl?: string
}

const recent = 40

/** The things that the requests so far have created, for use by later requests. */
export class FuzzWorld {
  readonly collections: Kept[] = []
  readonly parts: Part[] = []
  readonly #known = new Set<string>()
  readonly #sessions: Talk[] = []
  readonly #lists: Record<Listed, string[]>
  readonly #origin: string
  readonly #tenants: readonly TestTenant[]

  constructor(origin: string, tenants: readonly TestTenant[], stock: Stock) {
    this.#origin = origin
    this.#tenants = tenants
    this.#lists = { ...(Object.fromEntries(listed.map((kind) => [kind, []])) as unknown as Record<Listed, string[]>), ...stock }
  }

  /** Makes the request of the plan from the existing things. */
  resolve(plan: Plan, adminToken: string): Sent {
    const kind = plan.op.path.includes('{itemId}') ? 'item' : 'artifact'
    const namesPart = plan.op.path.includes('{itemId}') || plan.op.path.includes('{artifactId}')
    const part = namesPart
      ? pickOf(
          this.parts.filter((one) => one.kind === kind && this.#suits(one, plan)),
          plan.pick,
        )
      : undefined
    const collection =
      part?.collection ??
      pickOf(
        this.collections.filter((one) => this.#suits(one, plan)),
        plan.pick,
      )
    const session = pickOf(this.#sessionsFor(plan), plan.pick)
    const madeUp = plan.thing === 'random' || plan.thing === 'malformed'
    const path = plan.op.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (plan.thing === 'malformed')
        return encodeURIComponent(['x', '*', "'", 'col_', '\u{1f600}', '..%2f', 'a b', '%'][plan.pick % 8]!)
      if (name === 'itemId' || name === 'artifactId') return (!madeUp && part?.id) || randomId(kind)
      if (name === 'keyId') return (!madeUp && pickOf(this.#lists.key, plan.pick)) || randomId('key')
      if (session && name === 'agentId') return madeUp ? randomId('agent') : session.agentId
      if (session) return madeUp ? randomId('session') : session.id
      if (name === 'agentId') return (!madeUp && pickOf(this.#lists.agent, plan.pick)) || randomId('agent')
      if (name === 'epoch') return (!madeUp && pickOf(this.#lists.epoch, plan.pick)) || randomId('epoch')
      if (name === 'tenant_id') return (!madeUp && pickOf(this.#lists.tenant, plan.pick)) || randomId('tenant')
      if (plan.op.id === 'resendDelivery') return (!madeUp && pickOf(this.#lists.event, plan.pick)) || randomId('event')
      if (plan.op.id === 'getCheckout') return (!madeUp && pickOf(this.#lists.checkout, plan.pick)) || randomId('checkout')
      return (!madeUp && collection?.id) || randomId('collection')
    })
    const query = plan.query.map(([name, value]) => `${encode(name)}=${encode(this.#filled(value))}`).join('&')
    const namesThing = plan.op.path.includes('/collections/{id}') || plan.op.path.includes('{artifactId}')
    const ofGone = !madeUp && namesThing && (collection?.gone === true || part?.gone === true)
    return {
      plan: { ...plan, body: plan.body && this.#filled(plan.body) },
      route: `${plan.op.method} ${path}${query && `?${query}`}`,
      headers: {
        ...plan.headers,
        ...(session ? this.#control(plan, session) : this.#credentials(plan, collection, adminToken)),
        ...(plan.body === undefined ? {} : { 'content-type': plan.contentType }),
      },
      collection: madeUp ? undefined : collection,
      part: madeUp ? undefined : part,
      ofGone,
    }
  }

  /** Records what the answer reports as created or deleted. */
  learn({ plan, collection, part, headers }: Sent, { status, text, data }: Answer): void {
    if (status >= 300) return
    const { id } = plan.op
    if (id === 'deleteCollection' && collection) collection.gone = true
    if ((id === 'deleteItem' || id === 'deleteArtifact') && part) part.gone = true
    if (status !== 201 && status !== 200) return
    if (id === 'curateItems' && collection) this.#noteCurated(collection, data.results)
    if (id === 'rotateCollectionTokens' && collection && data.admin_token) collection.owner = data.admin_token
    if (id === 'createInvite') this.#note('invite', data.invite_code)
    if (id === 'createKey') this.#note('key', data.id)
    if (id === 'publishEpoch') this.#note('epoch', data.epoch)
    if (id === 'registerAgent') this.#note('agent', data.id)
    if (id === 'createCheckout') this.#note('checkout', data.id)
    if (id === 'grantCoupon') this.#note('coupon', data.coupon)
    if (id === 'redeemWallet') this.#note('coupon', data.wallet_code)
    if (id === 'launchSession' && data.summon_key) this.#note('summon', data.summon_key)
    if ((id === 'launchSession' || id === 'summonSession') && data.control_token) this.#noteSession(data)
    if (id === 'listDeliveries') for (const one of data as unknown as { id: string }[]) this.#note('event', one.id)
    if (id === 'createTenant' || id === 'signUpTenant') this.#note('tenant', data.tenant.id)
    if (['listItems', 'listArtifacts', 'listAgents', 'listCatalog', 'listEpochs', 'listDeliveries'].includes(id)) {
      const { meta } = JSON.parse(text) as { meta?: { next_cursor?: string } }
      if (meta?.next_cursor) this.#note('cursor', meta.next_cursor)
    }
    if (id === 'createCollection' && this.#isNew(data.id)) {
      const tenant = this.#tenants.find(({ secret, publishable }) =>
        [`Bearer ${secret}`, `Bearer ${publishable}`].includes(headers['authorization']!),
      )!
      this.collections.push({
        tenant,
        id: data.id,
        owner: data.admin_token,
        contributor: data.contributor_token ?? '',
        gone: false,
        parts: [],
      })
    }
    // A box gives no id.
    if ((id === 'addItem' || id === 'createArtifact' || id === 'uploadArtifact') && collection && data.id)
      this.learnPart(id === 'addItem' ? 'item' : 'artifact', data.id, collection)
  }

  #noteCurated(collection: Kept, results: { id: string; status: string }[]): void {
    const deleted = new Set(results.flatMap(({ id, status }) => (status === 'deleted' ? [id] : [])))
    for (const part of collection.parts) if (deleted.has(part.id)) part.gone = true
  }

  learnPart(kind: Part['kind'], id: string, collection: Kept): void {
    if (this.#isNew(id)) {
      const made: Part = { kind, id, collection, gone: false }
      collection.parts.push(made)
      this.parts.push(made)
    }
  }

  #suits(thing: Kept | Part, { thing: wanted }: Plan): boolean {
    const gone = thing.gone || ('collection' in thing && thing.collection.gone)
    return wanted === 'gone' ? gone : !gone
  }

  #note(kind: Listed, value: string): void {
    if (this.#isNew(value)) this.#lists[kind].push(value)
  }

  /** Replays tell of the same thing again. */
  #isNew(id: string): boolean {
    if (this.#known.has(id)) return false
    this.#known.add(id)
    return true
  }

  #noteSession({ id, agent_id: agentId, control_token: control }: AnswerData): void {
    if (!this.#isNew(id)) return
    const session: Talk = { id, agentId, control }
    this.#sessions.push(session)
    // Not every session is one of a remote agent, and some end before they are called.
    agentControlToken(id).then(
      (token) => (session.agentControl = token),
      () => undefined,
    )
  }

  /** The tokens of the operation's possible targets; none if it takes no control token. */
  #sessionsFor({ op }: Plan): Talk[] {
    if (!op.schemes.includes('sessionControlToken')) return []
    return op.id === 'issueIdToken' ? this.#sessions.filter(({ agentControl }) => agentControl) : this.#sessions
  }

  #filled(text: string): string {
    return text.replaceAll(/@(\w+):(\d+)/g, (whole, kind: Listed | 'share', n: string) => {
      if (kind !== 'share' && !this.#lists[kind]) return whole
      const share = pickOf(this.collections, Number(n))?.id ?? randomId('collection')
      return kind === 'share'
        ? `${this.#origin}/v1/collections/${share}/render`
        : (pickOf(this.#lists[kind], Number(n)) ?? 'none')
    })
  }

  #control({ caller, pick }: Plan, { control, agentControl = control }: Talk): Record<string, string> {
    const tenant = this.#tenants[pick % this.#tenants.length]!
    const token = {
      right: pick % 2 === 0 ? agentControl : control,
      none: '',
      publishable: tenant.publishable,
      secret: tenant.secret,
      other: pickOf(this.#sessions, pick + 1)!.control,
      broken: `${control}0`,
    }[caller]
    return token ? { authorization: `Bearer ${token}` } : {}
  }

  #credentials({ op, caller, token, pick }: Plan, collection: Kept | undefined, adminToken: string): Record<string, string> {
    const tenant = collection?.tenant ?? this.#tenants[pick % this.#tenants.length]!
    const other = this.#tenants.find((one) => one !== tenant)!
    const right = op.schemes.includes('publishableKey') && pick % 2 === 0 ? tenant.publishable : tenant.secret
    const key = {
      right,
      none: '',
      publishable: tenant.publishable,
      secret: tenant.secret,
      other: other.secret,
      broken: `${right}0`,
    }[caller]
    const held = {
      owner: collection?.owner,
      contributor: collection?.contributor,
      none: '',
      other: pickOf(this.collections, pick)?.owner,
      broken: 'cat_x',
    }[token]
    return {
      ...(key && !op.schemes.includes('operatorToken') ? { authorization: `Bearer ${key}` } : {}),
      ...(held ? { 'x-collection-token': held } : {}),
      ...(op.schemes.includes('operatorToken') && caller !== 'none'
        ? { 'x-admin-token': caller === 'broken' ? 'x' : adminToken }
        : {}),
    }
  }
}

/** One of the newest. */
function pickOf<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (n % Math.min(list.length, recent))]
}

/** As in browsers, which send no lone surrogates. */
const encode = (text: string) => encodeURIComponent(text.toWellFormed())
