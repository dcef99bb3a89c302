import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#errors/api-error.ts'
import { reportRange, usageReport } from './handlers.ts'

const now = Date.parse('2026-11-20T23:59:59.999Z')

const refused = (asked: { from?: string; to?: string }) => {
  try {
    reportRange(asked, now)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'invalid_request')
    return error.details![0]!.path
  }
  return undefined
}

test('a report covers the 30 days up to today, or up to the requested end', () => {
  assert.deepEqual(reportRange({}, now), { from: '2026-10-22', to: '2026-11-20' })
  assert.deepEqual(reportRange({ to: '2024-03-01' }, now), { from: '2024-02-01', to: '2024-03-01' })
  assert.deepEqual(reportRange({ from: '2026-11-20' }, now), { from: '2026-11-20', to: '2026-11-20' })
})

test('its ends are at most 366 days apart, in order, and within the supported range', () => {
  assert.equal(refused({ from: '2024-01-01', to: '2025-01-01' }), undefined)
  assert.equal(refused({ from: '2024-01-01', to: '2025-01-02' }), '/from')
  assert.equal(refused({ from: '2026-11-21' }), '/from')
  assert.equal(refused({ from: '2026-11-02', to: '2026-11-01' }), '/from')
  assert.equal(refused({ from: '2025-11-18' }), '/from')
  assert.equal(refused({ from: '0000-01-01', to: '0000-01-02' }), '/from')
  assert.equal(refused({ to: '1999-12-31' }), '/to')
  assert.equal(refused({ to: '2000-01-01' }), undefined)
})

test('rows are oldest first, then in the order of the meters, without zeros; months are summed', () => {
  const quantities = [
    { day: '2026-11-02', meter: 'bytes' as const, quantity: 5 },
    { day: '2026-11-02', meter: 'credits' as const, quantity: 40 },
    { day: '2026-10-31', meter: 'items' as const, quantity: 1 },
    { day: '2026-11-01', meter: 'paints' as const, quantity: 0 },
    { day: '2026-11-30', meter: 'requests' as const, quantity: 7 },
    { day: '2026-11-30', meter: 'bytes' as const, quantity: Number.MAX_SAFE_INTEGER },
  ]
  assert.deepEqual(usageReport(quantities, 'day'), [
    { period: '2026-10-31', meter: 'items', quantity: 1 },
    { period: '2026-11-02', meter: 'credits', quantity: 40 },
    { period: '2026-11-02', meter: 'bytes', quantity: 5 },
    { period: '2026-11-30', meter: 'requests', quantity: 7 },
    { period: '2026-11-30', meter: 'bytes', quantity: Number.MAX_SAFE_INTEGER },
  ])
  assert.deepEqual(usageReport(quantities, 'month'), [
    { period: '2026-10', meter: 'items', quantity: 1 },
    { period: '2026-11', meter: 'requests', quantity: 7 },
    { period: '2026-11', meter: 'credits', quantity: 40 },
    { period: '2026-11', meter: 'bytes', quantity: Number.MAX_SAFE_INTEGER },
  ])
})
