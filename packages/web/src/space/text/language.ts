import { Store } from '../store.ts'
import { en } from './en.ts'
import { isRightToLeft, setLocale } from './format.ts'
import { setText, type Text } from './text.ts'

/** Each by its own name. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  ja: '日本語',
  ar: 'العربية',
} as const

export type Language = keyof typeof LANGUAGES

/** English is part of the app, because it is the fallback when no other language can be fetched. */
const CATALOGUES: Readonly<Record<Language, () => Promise<Text>>> = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de,
  es: async () => (await import('./es.ts')).es,
  fr: async () => (await import('./fr.ts')).fr,
  ja: async () => (await import('./ja.ts')).ja,
  ar: async () => (await import('./ar.ts')).ar,
}

const KEY = 'atrium.space.language'

/** What the app is written in now. */
export const languageStore = new Store<{ language: Language }>({ language: 'en' })
/** The language requested last. A slower answer to an earlier request must not replace it. */
let wanted: Language = 'en'

/** The language chosen on this device, or the first of the browser's languages that the app has, or English. */
export function preferredLanguage(): Language {
  const tags = [readChoice() ?? '', ...navigator.languages]
  return tags.map(primary).find(isLanguage) ?? 'en'
}

/** Resolves to whether the app now uses the language. If it could not be fetched, the app keeps the previous one. */
export async function showLanguage(language: Language): Promise<boolean> {
  wanted = language
  const catalogue = await CATALOGUES[language]().catch(() => undefined)
  if (!catalogue || wanted !== language) return false
  // Dates and numbers as in the reader's country, if the browser's language names one.
  setLocale(navigator.languages.find((tag) => primary(tag) === language) ?? language)
  setText(catalogue)
  const root = document.documentElement
  root.lang = language
  root.dir = isRightToLeft(language) ? 'rtl' : 'ltr'
  languageStore.update({ language })
  return true
}

/** Uses the language now and on each later visit with this browser. */
export async function chooseLanguage(language: Language): Promise<boolean> {
  const isShown = await showLanguage(language)
  try {
    if (isShown) localStorage.setItem(KEY, language)
  } catch {
    // Storage is switched off, so the choice lasts until the page is closed.
  }
  return isShown
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

/** `de` of `de-AT`. */
function primary(tag: string): string {
  const end = tag.indexOf('-')
  return (end === -1 ? tag : tag.slice(0, end)).toLowerCase()
}

export function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name)
}
