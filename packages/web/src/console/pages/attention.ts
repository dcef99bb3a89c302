import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { readDeliveryHealth, troubleOf } from './webhook-health.ts'

interface Concern {
  /** Identifies the concern: its text may change while the page is open. */
  about: string
  text: string
  /** The page where it is dealt with. */
  to: string
}

const SOON_MS = 7 * 86_400_000
const LOOKED_AT = 50

/** What a person should look at. Each check is read by itself: one that fails hides none of the others. */
export async function findAttention(signal: AbortSignal): Promise<Concern[]> {
  const checks = may('analyse') ? [checkWebhooks(signal), checkKeys(signal), checkSessions(signal)] : []
  const found = await Promise.allSettled(checks)
  // If no check has an answer, nothing is known. The error keeps on the page what was found before.
  const [first] = found
  if (first?.status === 'rejected' && found.every(({ status }) => status === 'rejected')) throw first.reason
  return found.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
}

async function checkWebhooks(signal: AbortSignal): Promise<Concern[]> {
  const { data: endpoints } = await api.listWebhookEndpoints({ signal })
  const found = endpoints.map(async ({ id, url, enabled }): Promise<Concern[]> => {
    const to = `/webhooks/${id}`
    if (!enabled) return [{ about: id, text: `The webhook endpoint ${url} is disabled: no events are sent.`, to }]
    const health = await readDeliveryHealth(id, signal)
    const trouble = troubleOf(health)
    return trouble === '' ? [] : [{ about: id, text: `Of the last ${health.count} deliveries to ${url}, ${trouble}.`, to }]
  })
  return (await Promise.all(found)).flat()
}

async function checkKeys(signal: AbortSignal): Promise<Concern[]> {
  const expiring_before = new Date(Date.now() + SOON_MS).toISOString()
  const [leaks, expiring] = await Promise.all([
    api.listKeyLeaks({ query: { valid: true, limit: LOOKED_AT }, signal }),
    api.listKeys({ query: { expiring_before, limit: LOOKED_AT }, signal }),
  ])
  const to = '/keys'
  const leaked = leaks.data.map(({ key_id, key_name, key_hint }) => ({
    about: `leaked ${key_id}`,
    text: `The key ${isolated(key_name ?? key_hint)} was found in public and is still valid.`,
    to,
  }))
  const ending = expiring.data.map(({ id, name, hint }) => ({
    about: `ending ${id}`,
    text: `The key ${isolated(name ?? hint)} expires within a week.`,
    to,
  }))
  return [
    ...leaked,
    ...more(leaks, { about: 'more leaked', text: 'More keys were found in public and are still valid.', to }),
    ...ending,
    ...more(expiring, { about: 'more ending', text: 'More keys expire within a week.', to }),
  ]
}

/** The concern that there are more than were read. */
function more({ nextCursor }: { nextCursor?: string | undefined }, concern: Concern): Concern[] {
  return nextCursor === undefined ? [] : [concern]
}

async function checkSessions(signal: AbortSignal): Promise<Concern[]> {
  const from = new Date(Date.now() - SOON_MS).toISOString()
  const { data } = await api.listSessions({ query: { status: 'failed', from, limit: LOOKED_AT }, signal })
  if (data.length === 0) return []
  const sessions = data.length === 1 ? 'One agent session' : `${data.length} agent sessions`
  return [{ about: 'sessions', text: `${sessions} failed in the last week.`, to: '/agent-sessions?status=failed' }]
}
