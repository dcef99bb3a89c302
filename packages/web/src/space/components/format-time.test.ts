import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayName } from './format-time.ts'

test('yesterday is the day before, also where a day has 23 or 25 hours', () => {
  process.env['TZ'] = 'America/New_York'
  const name = (day: string, now: string) => dayName(day, new Date(now))
  // Clocks go back on 1 November 2026, and forward on 14 March 2027.
  assert.equal(name('2026-11-01T00:10:00-04:00', '2026-11-01T23:30:00-05:00'), 'Today')
  assert.equal(name('2026-10-31T12:00:00-04:00', '2026-11-01T23:30:00-05:00'), 'Yesterday')
  assert.equal(name('2027-03-14T12:00:00-04:00', '2027-03-15T00:30:00-04:00'), 'Yesterday')
  assert.equal(name('2027-03-13T23:40:00-05:00', '2027-03-15T00:30:00-04:00'), 'Saturday, March 13')
  assert.equal(name('2026-12-31T23:59:00-05:00', '2027-01-01T00:00:00-05:00'), 'Yesterday')
})
