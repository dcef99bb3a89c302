import type { ComponentChildren } from 'preact'

let locale = 'en'
const made = new Map<string, unknown>()

/** Sets the language for texts, numbers and dates: a language tag with or without a region. */
export function setLocale(to: string): void {
  locale = to
  made.clear()
}

/** Intl objects are slow to create, so there is one of each per locale. */
function once<T>(name: string, make: (locale: string) => T): T {
  let value = made.get(name) as T | undefined
  if (value === undefined) {
    value = make(locale)
    made.set(name, value)
  }
  return value
}

/** `12,500` in English. */
export function number(value: number): string {
  return once('number', (to) => new Intl.NumberFormat(to)).format(value)
}

/** With one decimal place at most. */
export function decimal(value: number): string {
  return once('decimal', (to) => new Intl.NumberFormat(to, { maximumFractionDigits: 1 })).format(value)
}

/** `90 minutes`; `2 hours` for whole hours. */
export function duration(minutes: number): string {
  const unit = minutes % 60 === 0 && minutes > 0 ? 'hour' : 'minute'
  const format = once(unit, (to) => new Intl.NumberFormat(to, { style: 'unit', unit, unitDisplay: 'long' }))
  return format.format(unit === 'hour' ? minutes / 60 : minutes)
}

/** `a, b, and c`. The type `unit` has nothing but spaces in Japanese. Each item is isolated. */
export function list(items: readonly string[]): string {
  return once('list', (to) => new Intl.ListFormat(to, { type: 'conjunction', style: 'long' })).format(items.map(isolated))
}

/** `today` for 0, `yesterday` for −1. */
export function relativeDay(days: number): string {
  return once('relative', (to) => new Intl.RelativeTimeFormat(to, { numeric: 'auto' })).format(days, 'day')
}

const DATES = {
  clock: { hour: 'numeric', minute: '2-digit' },
  whole: { dateStyle: 'full', timeStyle: 'medium' },
  day: { weekday: 'long', day: 'numeric', month: 'long' },
  dayWithYear: { day: 'numeric', month: 'long', year: 'numeric' },
} satisfies Record<string, Intl.DateTimeFormatOptions>

export function date(style: keyof typeof DATES, at: Date): string {
  return once(style, (to) => new Intl.DateTimeFormat(to, DATES[style])).format(at)
}

/** Capitalises the first letter, as at the start of a line. */
export function capitalised(words: string): string {
  const [first = '', ...rest] = words
  return first.toLocaleUpperCase(locale) + rest.join('')
}

/** Texts by plural category. A test compares the categories of each language with Intl.PluralRules. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>

/** The form for this number, which replaces `#`. */
export function plural(count: number, forms: Forms): string {
  const category = once('plural', (to) => new Intl.PluralRules(to)).select(count)
  return (forms[category] ?? forms.other).replace('#', number(count))
}

/** A text with elements in it: `` line`Signed in as ${<bdi>{email}</bdi>}.` `` */
export function line(words: TemplateStringsArray, ...parts: readonly ComponentChildren[]): ComponentChildren {
  return words.flatMap((word, i) => (i < parts.length ? [word, parts[i]] : [word]))
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/**
 * Isolates a name, address or code within a plain text, so that its direction does not reorder the words around it
 * (UAX #9). In elements, use `<bdi>`.
 */
export function isolated(value: string): string {
  return isRightToLeft(locale) || RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value
}

export function isRightToLeft(tag: string): boolean {
  return /^ar\b/.test(tag)
}
