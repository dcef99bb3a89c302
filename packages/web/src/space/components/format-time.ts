import { capitalised, date, relativeDay } from '../text/format.ts'

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
  // Not 24 hours ago: where clocks change, a day has 23 or 25.
  if (key === new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).toDateString()) return relativeDay(-1)
  return date(day.getFullYear() === now.getFullYear() ? 'day' : 'dayWithYear', day)
}
