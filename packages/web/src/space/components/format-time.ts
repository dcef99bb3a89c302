import { capitalised, date, relativeDay } from '../text/format.ts'

const DAY_MS = 86_400_000

/** The time of day where the reader is. */
export function clockTime(at: string): string {
  return date('clock', new Date(at))
}

export function wholeMoment(at: string): string {
  return date('whole', new Date(at))
}

/** The same for all moments of one local day. */
export function dayKey(at: string): string {
  return new Date(at).toDateString()
}

/** `Today`, `Yesterday`, or the date. */
export function dayName(at: string, now = new Date()): string {
  return capitalised(dayInText(at, now))
}

/** The same within a sentence. */
export function dayInText(at: string, now = new Date()): string {
  const day = new Date(at)
  const key = day.toDateString()
  if (key === now.toDateString()) return relativeDay(0)
  if (key === new Date(now.getTime() - DAY_MS).toDateString()) return relativeDay(-1)
  return date(day.getFullYear() === now.getFullYear() ? 'day' : 'dayWithYear', day)
}
