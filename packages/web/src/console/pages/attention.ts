import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { readDeliveryHealth, troubleOf } from './webhook-health.ts'

interface Concern {
  text: string
  /** The page where it is dealt with. */
  to: string
}

const SOON_MS = 7 * 86_400_000
const LOOKED_AT = 50

type Key = Awaited<ReturnType<typeof api.listKeys>>['data'][number]

/** What a person should look at. Each check is read by itself: one that fails hides none of the others. */
export async function findAttention(signal: AbortSignal): Promise<Concern[]> {
  const checks = may('analyse') ? [checkWebhooks(signal), checkKeys(signal), checkSessions(signal)] : []
  const found = await Promise.allSettled(checks)
  return found.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
}

async function checkWebhooks(signal: AbortSignal): Promise<Concern[]> {
  const { data: endpoints } = await api.listWebhookEndpoints({ signal })
  const found = endpoints.map(async ({ id, url, enabled }): Promise<Concern[]> => {
    const to = `/webhooks/${id}`
    if (!enabled) return [{ text: `The webhook endpoint ${url} is disabled: no events are sent.`, to }]
    const health = await readDeliveryHealth(id, signal)
    const trouble = troubleOf(health)
    return trouble === '' ? [] : [{ text: `Of the last ${health.count} deliveries to ${url}, ${trouble}.`, to }]
  })
  return (await Promise.all(found)).flat()
}

async function checkKeys(signal: AbortSignal): Promise<Concern[]> {
  const [{ data }, { data: leaks }] = await Promise.all([
    api.listKeys({ signal }),
    api.listKeyLeaks({ query: { limit: LOOKED_AT }, signal }),
  ])
  const isLeaked = new Set(leaks.map(({ key_id }) => key_id))
  const isValid = ({ revoked_at, expires_at }: (typeof data)[number]) =>
    revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now())
  const leaked = data.filter((key) => isLeaked.has(key.id) && isValid(key))
  const ending = data.filter((key) => {
    const { revoked_at, expires_at } = key
    const leftMs = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.now()
    return revoked_at === null && leftMs > 0 && leftMs < SOON_MS && !data.some((other) => replaces(other, key) && isValid(other))
  })
  return [
    ...leaked.map(({ name, hint }) => ({ text: `The key ${name ?? hint} was found in public and is still valid.`, to: '/keys' })),
    ...ending.map(({ name, hint }) => ({ text: `The key ${name ?? hint} expires within a week.`, to: '/keys' })),
  ]
}

/** Whether a key was made after another, of its kind and name, as a rotation does. */
function replaces(key: Key, other: Key): boolean {
  return key.kind === other.kind && key.name === other.name && Date.parse(key.created_at) > Date.parse(other.created_at)
}

async function checkSessions(signal: AbortSignal): Promise<Concern[]> {
  const from = new Date(Date.now() - SOON_MS).toISOString()
  const { data } = await api.listSessions({ query: { status: 'failed', from, limit: LOOKED_AT }, signal })
  if (data.length === 0) return []
  const sessions = data.length === 1 ? 'One agent session' : `${data.length} agent sessions`
  return [{ text: `${sessions} failed in the last week.`, to: '/agent-sessions?status=failed' }]
}
