import { useEffect } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { ArchDrawing, ArchMark } from '../parts/arch.tsx'
import { NewRoomForm } from './new-room-form.tsx'

export function StartScreen({ config }: { config: SpaceConfig | undefined }) {
  useEffect(() => void (document.title = 'Space'), [])
  return (
    <div class="page">
      <header class="page-head">
        <a class="home" href="/space" aria-current="page">
          <ArchMark />
          Space
        </a>
      </header>
      <main class="start">
        <div class="start-words">
          <h1>A room that keeps what is said in it</h1>
          <p class="lead">
            Everyone who has the link can come in, read and write, at their own time. What is stored is sealed with a key that
            only the link holds, and you can check that here.
          </p>
          <ArchDrawing />
        </div>
        <NewRoomForm config={config} />
      </main>
    </div>
  )
}
