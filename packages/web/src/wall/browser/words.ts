import type { Forms } from '../../page-text/en.ts'
import type { ScriptText } from '../script-text.ts'

/** Of the page. */
export const language = document.documentElement.lang

/** The page's language as in the visitor's country, if the browser's language names one: numbers and times agree. */
export const locale = navigator.language.startsWith(language) ? navigator.language : language

/** The texts of the script. The server writes them into the page, in the page's language. */
export const words = JSON.parse(document.body.dataset['text'] ?? '{}') as ScriptText

/** The form for the number, with the number in it. */
export function counted(forms: Forms, count: number): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other
  return form.replace('#', new Intl.NumberFormat(locale).format(count))
}
