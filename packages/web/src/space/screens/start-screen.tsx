import { useEffect } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { ArchDrawing, ArchMark } from '../components/arch.tsx'
import { LanguageChoice } from '../components/language-choice.tsx'
import { later } from '../components/later.tsx'
import { keptRoomsStore } from '../room/kept-rooms.ts'
import { NewRoomForm } from './new-room-form.tsx'
import { homeHref, isFile, serviceOrigin } from '../service.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

const KeptRoomsList = later(async () => (await import('./kept-rooms-list.tsx')).KeptRoomsList)
/** In the app in one file alone. */
const ServiceForm = later(async () => (await import('./service-form.tsx')).ServiceForm)
const hasKept = ({ rooms } = keptRoomsStore.value) => rooms.length > 0

/** The code of the list of rooms, if there is one: what is below it would move when the list appears. */
export async function fetchKeptRooms(): Promise<void> {
  if (hasKept()) await KeptRoomsList.fetch()
}

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
          {useStore(keptRoomsStore, hasKept) && <KeptRoomsList />}
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
