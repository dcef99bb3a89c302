import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Forms } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'

export type Words = typeof en

/** The texts of a page and their language. The languages are those of the Space app. */
export type PageText = Words & { readonly language: string; readonly direction: 'ltr' | 'rtl' }

/** For readers whose languages are not available, and for pages that do not depend on the reader. */
export const englishText: PageText = { ...en, language: 'en', direction: 'ltr' }

const texts: ReadonlyMap<string, PageText> = new Map<string, PageText>([
  ['en', englishText],
  ['de', { ...de, language: 'de', direction: 'ltr' }],
  ['es', { ...es, language: 'es', direction: 'ltr' }],
  ['fr', { ...fr, language: 'fr', direction: 'ltr' }],
  ['ja', { ...ja, language: 'ja', direction: 'ltr' }],
  ['ar', { ...ar, language: 'ar', direction: 'rtl' }],
])

export const pageLanguages: readonly string[] = [...texts.keys()]

/** Browsers send fewer languages. The rest of a longer list is ignored. */
const maxRanges = 30

/**
 * Returns the text that an Accept-Language header prefers (RFC 9110, 12.5.4): the highest quality, then the first in
 * the list. `de-AT` gets `de`. An answer that depends on the header needs `Vary: Accept-Language`.
 */
export function readPageText(acceptLanguage: string | string[] | undefined): PageText {
  const wanted = String(acceptLanguage ?? '')
    .split(',', maxRanges)
    .flatMap((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const [language = ''] = tag.split('-', 1)
      const text = texts.get(language)
      const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
      return text && quality > 0 && quality <= 1 ? [{ text, quality }] : []
    })
  return wanted.toSorted((a, b) => b.quality - a.quality)[0]?.text ?? englishText
}

/** The form for the number, with the number in it. */
export function pluralOf({ language }: Pick<PageText, 'language'>, forms: Forms, count: number): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other
  return form.replace('#', new Intl.NumberFormat(language).format(count))
}

/** Isolates an address within a text, so that the words around it keep their order where text runs right to left. */
export function isolated({ direction }: Pick<PageText, 'direction'>, address: string): string {
  return direction === 'rtl' ? `\u2068${address}\u2069` : address
}
