import type { ComponentChildren } from 'preact'
import { cleanLine } from '../../share/clean-text.ts'
import { isolated } from '../../space/text/format.ts'
import { shortId } from './copy.tsx'

/** A full time includes its zone, because people send it to readers in other zones. */
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const number = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

const STEPS = [
  [60, 'second'],
  [3_600, 'minute'],
  [86_400, 'hour'],
  [30 * 86_400, 'day'],
] as const
const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const

/** The title of a collection, as the share page shows it: a letter may have a thousand accents, which would cover the page. */
export function shownTitle(metadata: Record<string, unknown>): string | undefined {
  return cleanLine(metadata['share_title'], 2_000)
}

/** "3 min. ago", with the exact local time in the title. Older than 30 days: the date. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="muted">never</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={absolute.format(date)}>
      {relativeTime(date)}
    </time>
  )
}

function relativeTime(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1_000
  for (const [limit, unit] of STEPS) {
    // Compared after rounding: 59.6 s are 1 minute, and not 60 s.
    const count = Math.round(seconds / SECONDS[unit])
    if (Math.abs(count) < limit / SECONDS[unit]) return relative.format(count, unit)
  }
  return day.format(date)
}

export function formatNumber(value: number): string {
  return number.format(value)
}

/** 12,300 as 12.3K. */
export function formatShort(value: number): string {
  return compact.format(value)
}

export function formatTime(at: string): string {
  return absolute.format(new Date(at))
}

const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A day of the usage, which counts days in UTC: "Nov 20". */
export function formatDay(utcSeconds: number): string {
  return shortDay.format(utcSeconds * 1_000)
}

const hour = new Intl.DateTimeFormat('en', { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' })

/** The zone of local times: "GMT+1". */
export function formatZone(utcSeconds: number): string {
  return zone.formatToParts(utcSeconds * 1_000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** An hour in local time: "Fri 14:00". Show `formatZone` beside it. */
export function formatHour(utcSeconds: number): string {
  return hour.format(utcSeconds * 1_000)
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function formatBytes(bytes: number): string {
  const step = bytes < 1_024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Math.round((bytes / 1_024 ** step) * 10) / 10} ${UNITS[step]}`
}

export type Tone = 'plain' | 'good' | 'bad' | 'warn'

/** A state in one word. The word carries the meaning, the colour repeats it. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

interface Actor {
  kind: string
  id: string | null
  name: string | null
}

/** Who did what the audit log has. A session of an operator's link has no member. */
export function actorName({ kind, id, name }: Actor): string {
  const who = kind === 'member' && id !== null && !id.startsWith('mem_') ? 'one-time link' : kind
  return [who, name === null ? (id === null ? '' : shortId(id)) : isolated(name)].filter((part) => part !== '').join(' ')
}
