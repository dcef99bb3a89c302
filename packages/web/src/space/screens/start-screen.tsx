import { useEffect } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { ArchDrawing, ArchMark } from '../components/arch.tsx'
import { LanguageChoice } from '../components/language-choice.tsx'
import { KeptRoomsList } from './kept-rooms-list.tsx'
import { ServiceForm } from './service-form.tsx'
import { NewRoomForm } from './new-room-form.tsx'
import { homeHref, isFile, serviceOrigin } from '../service.ts'
import { t } from '../text/text.ts'

export function StartScreen({ config }: { config: SpaceConfig | undefined }) {
  const file = document.querySelector<HTMLLinkElement>('link[rel=alternate][type="text/html"]')?.href
  useEffect(() => void (document.title = 'Space'), [])
  return (
    <div class="page">
      <header class="page-head">
        <a class="home" href={homeHref()} aria-current="page">
          <ArchMark />
          Space
        </a>
      </header>
      <main class="start">
        <div class="start-words">
          <h1>{t.start.title}</h1>
          <p class="lead">{t.start.lead}</p>
          <ArchDrawing />
        </div>
        <div class="start-forms">
          <KeptRoomsList />
          {isFile() && <ServiceForm />}
          {serviceOrigin() !== undefined && <NewRoomForm config={config} />}
        </div>
      </main>
      <footer class="page-foot">
        <LanguageChoice />
        {file && (
          <a href={file} download="space.html">
            {t.tools.file.form}
          </a>
        )}
      </footer>
    </div>
  )
}
