import { useId, useState } from 'preact/hooks'
import { chooseLanguage, isLanguage, LANGUAGES, languageStore } from '../text/language.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** The languages of the app, each under its own name. */
export function LanguageChoice() {
  const id = useId()
  const language = useStore(languageStore, (value) => value.language)
  const [problem, setProblem] = useState(false)
  const choose = async (select: HTMLSelectElement) => {
    const isShown = isLanguage(select.value) && (await chooseLanguage(select.value))
    setProblem(!isShown)
    if (!isShown) select.value = languageStore.value.language
  }
  return (
    <div class="language">
      <label for={id}>{t.language}</label>
      <select id={id} value={language} onChange={(event) => void choose(event.currentTarget)}>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
      {problem && (
        <p class="problem" role="alert">
          {t.languageUnreachable}
        </p>
      )}
    </div>
  )
}
