import assert from 'node:assert/strict'
import type { EventType } from '@atrium/contract/event-types'
import { send } from './http.ts'
import type { TestApi, TestTenant } from './test-api.ts'

/** An event as the pull shows it. */
export interface PulledEvent {
  id: string
  type: EventType
  tenant_id: string
  sequence: number
  created_at: string
  data: Record<string, unknown>
  hash: string | null
  prev_hash: string | null
}

/** All events of the tenant, page by page. */
export async function pullEvents(api: TestApi, { secretKey: key }: TestTenant, limit = 200): Promise<PulledEvent[]> {
  const all: PulledEvent[] = []
  for (;;) {
    const got = await send(api, 'GET', `/events?after=${all.at(-1)?.sequence ?? 0}&limit=${limit}`, { key })
    assert.equal(got.status, 200, got.text)
    const page: PulledEvent[] = got.body.data
    all.push(...page)
    if (page.length < limit) return all
  }
}

export function assertGapless(events: PulledEvent[]): void {
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, i) => i + 1),
  )
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'each has an id of its own')
}
