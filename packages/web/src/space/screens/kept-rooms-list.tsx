import { useRef } from 'preact/hooks'
import { announce } from '../components/announcer.tsx'
import { Confirm, useAsking } from '../components/confirm.tsx'
import { clockTime, dayInText, wholeMoment } from '../components/format-time.ts'
import { forgetRoom, forgetRooms } from '../room/forget-rooms.ts'
import { keptName, type KeptRoom, keptRoomsStore } from '../room/kept-rooms.ts'
import { list } from '../text/format.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** The rooms that the visitor stored on this device; nothing if there are none. */
export function KeptRoomsList() {
  const rooms = useStore(keptRoomsStore, (value) => value.rooms)
  const heading = useRef<HTMLHeadingElement>(null)
  const { asking, opener, ask, end } = useAsking()
  if (rooms.length === 0) return null
  const forget = (kept: KeptRoom, title: string) => {
    forgetRoom(kept, kept.service)
    announce(t.tools.kept.saidForgotten(title))
    heading.current?.focus()
  }
  const forgetAll = () => {
    forgetRooms()
    announce(t.tools.kept.saidAllForgotten)
  }
  return (
    <section class="card kept-rooms" aria-labelledby="kept-rooms">
      <h2 id="kept-rooms" ref={heading} tabIndex={-1}>
        {t.tools.kept.title}
      </h2>
      <p class="hint">
        {t.tools.kept.hint}
        {/* Several of these would look alike. */}
        {rooms.some((kept) => shownTitle(kept) === t.room.untitled) && ` ${t.tools.kept.nameHint}`}
      </p>
      <ul class="people">
        {rooms.map((kept) => (
          <KeptItem key={keptName(kept)} kept={kept} onForget={forget} />
        ))}
      </ul>
      <div class="buttons">
        <button class="button" type="button" ref={opener} aria-expanded={asking} onClick={ask}>
          {t.tools.kept.forgetAll}
        </button>
      </div>
      {asking && (
        <Confirm
          label={t.tools.kept.forgetAllLabel}
          yes={t.tools.kept.forgetAll}
          no={t.tools.kept.keepAll}
          onYes={forgetAll}
          onNo={end}
        >
          <p>{t.tools.kept.forgetAllAsk}</p>
        </Confirm>
      )}
    </section>
  )
}

function shownTitle({ name, title, others }: KeptRoom): string {
  const called = name ?? title
  if (called !== undefined || !others || others.names.length === 0) return called ?? t.room.untitled
  const { names, more } = others
  return t.tools.kept.roomWith(list(more > 0 ? [...names, t.tools.kept.more(more)] : names))
}

interface KeptItemProps {
  kept: KeptRoom
  onForget: (kept: KeptRoom, title: string) => void
}

function KeptItem({ kept, onForget }: KeptItemProps) {
  const { at } = kept
  const title = shownTitle(kept)
  const { asking, opener, ask, end } = useAsking()
  const words = t.tools.kept
  return (
    <li>
      <div class="person">
        <a href={keptName(kept)} dir="auto">
          {title}
        </a>
        <p class="hint">
          {words.opened(
            <time dateTime={at} title={wholeMoment(at)}>
              {dayInText(at)} {clockTime(at)}
            </time>,
          )}
        </p>
      </div>
      <button class="button small" type="button" ref={opener} aria-expanded={asking} onClick={ask}>
        {words.forgetOne(
          (shown) => (
            <span class="visually-hidden">{shown}</span>
          ),
          title,
        )}
      </button>
      {asking && (
        <Confirm
          label={words.forgetLabel(title)}
          yes={words.forgetIt}
          no={words.keepIt}
          small
          onYes={() => onForget(kept, title)}
          onNo={end}
        >
          <p>{words.forgetAsk}</p>
        </Confirm>
      )}
    </li>
  )
}
