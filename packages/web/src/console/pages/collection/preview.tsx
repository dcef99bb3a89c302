import { followStream } from '@atrium/client/follow-stream'
import { useState } from 'preact/hooks'
import { api } from '../../api/api.ts'
import { useMessages } from '../../api/use-live.ts'
import { Icon } from '../../parts/icon.tsx'

const QUIET_MS = 1_500

/**
 * The share page and the wall as visitors see them. They are from strangers: the frames are sandboxed, without
 * allow-same-origin, so nothing in them can reach the session.
 */
export function Preview({ id, wall }: { id: string; wall: boolean }) {
  const [turn, setTurn] = useState(0)
  const [timer] = useState<{ id?: ReturnType<typeof setTimeout> }>({})
  useMessages(
    `preview ${id}`,
    (signal) => followStream(api.streamCollection, { id, signal }),
    () => {
      // Changes come in bursts; the page is loaded again after the last one.
      clearTimeout(timer.id)
      timer.id = setTimeout(() => setTurn((turn) => turn + 1), QUIET_MS)
    },
  )
  return (
    <div class="previews">
      <Frame key={`share ${turn}`} title="Share page" address={`/v1/collections/${id}/render`} sandbox="" />
      {wall ? (
        <Frame title="Wall" address={`/v1/collections/${id}/wall`} sandbox="allow-scripts" />
      ) : (
        <section class="card">
          <h2>Wall</h2>
          <p class="muted">The wall is switched off. The settings of the collection switch it on.</p>
        </section>
      )}
    </div>
  )
}

function Frame({ title, address, sandbox }: { title: string; address: string; sandbox: string }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        <a class="quiet" href={address} target="_blank" rel="noopener noreferrer">
          Open <Icon name="outside" />
        </a>
      </div>
      <iframe class="preview" title={title} src={address} sandbox={sandbox} referrerpolicy="no-referrer" loading="lazy" />
    </section>
  )
}
