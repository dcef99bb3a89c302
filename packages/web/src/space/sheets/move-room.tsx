import { useId, useRef, useState } from 'preact/hooks'
import { newRoomSecret, randomId } from '@atrium/room-client/new-room-secret'
import { failureWords } from '../api/failure-words.ts'
import { Problem } from '../components/problem.tsx'
import { makeClientSealedRoom } from '../room/client-sealed-channel.ts'
import { canKeepAnother, findKept, keepRoom, nameRoom } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { hashOf } from '../service.ts'
import { t } from '../text/text.ts'

/** An open client-sealed room gets another link: its members go on in a new room. */
export function MoveRoom({ session }: { session: RoomSession }) {
  const [tellLink, setTellLink] = useState(true)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  // Another attempt leads to the same room: the answer of the one before may have been lost.
  const plan = useRef({ id: randomId(), to: newRoomSecret() })
  const name = useId()
  const move = async () => {
    const kept = findKept(session.secret)
    // Otherwise the list would lead to the room that is left, and nowhere to the new one.
    if (kept && !canKeepAnother()) return setProblem(t.tools.kept.full)
    setBusy(true)
    setProblem(undefined)
    const { id, to } = plan.current
    try {
      // The farewell comes second: a link to a room that does not exist would be worse than a room that nobody enters.
      const link = await makeClientSealedRoom(to)
      if (session.isOver) return
      await session.channel.leave?.({ id, name: session.names.value.name, to: tellLink ? to : undefined })
      if (kept) {
        keepRoom(link, session.state.value.title)
        nameRoom(link, kept.name)
      }
      location.hash = hashOf(link)
    } catch (error) {
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
      setBusy(false)
    }
  }
  const words = t.sealed.move
  const choice = (value: boolean, label: string, hint: string) => (
    <label class="choice">
      <input type="radio" name={name} checked={tellLink === value} onChange={() => setTellLink(value)} />
      <span>
        <span class="choice-label">{label}</span>
        <span class="hint">{hint}</span>
      </span>
    </label>
  )
  return (
    <section aria-labelledby="move">
      <h3 id="move">{words.title}</h3>
      <p>{words.hint}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void move()
        }}
      >
        <fieldset>
          <legend>{words.who}</legend>
          {choice(true, words.all, words.allHint)}
          {choice(false, words.some, words.someHint)}
        </fieldset>
        <div class="buttons">
          <button class="button" type="submit" aria-disabled={busy}>
            {busy ? words.moving : words.button}
          </button>
        </div>
      </form>
      <Problem text={problem} />
    </section>
  )
}
