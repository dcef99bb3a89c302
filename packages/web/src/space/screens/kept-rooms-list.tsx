import { useRef } from 'preact/hooks'
import { announce } from '../parts/announcer.tsx'
import { dayInText, wholeMoment } from '../parts/moments.ts'
import { forgetRoom, forgetRooms, keptRoomsStore } from '../room/kept-rooms.ts'
import { hashOf } from '../service.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** The rooms that the visitor stored on this device; nothing if there are none. */
export function KeptRoomsList() {
  const rooms = useStore(keptRoomsStore, (value) => value.rooms)
  const heading = useRef<HTMLHeadingElement>(null)
  if (rooms.length === 0) return null
  const forget = (room: string, title: string) => {
    forgetRoom(room)
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
      <p class="hint">{t.tools.kept.hint}</p>
      <ul class="people">
        {rooms.map(({ title = t.room.untitled, at, service, ...link }) => (
          <li key={link.room}>
            <div class="person">
              <a href={hashOf(link, service)} dir="auto">
                {title}
              </a>
              <p class="hint">
                {t.tools.kept.opened(
                  <time dateTime={at} title={wholeMoment(at)}>
                    {dayInText(at)}
                  </time>,
                )}
              </p>
            </div>
            <button class="button small" type="button" onClick={() => forget(link.room, title)}>
              {t.tools.kept.forgetOne(
                (shown) => (
                  <span class="unseen">{shown}</span>
                ),
                title,
              )}
            </button>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button class="button" type="button" onClick={forgetAll}>
          {t.tools.kept.forgetAll}
        </button>
      </div>
    </section>
  )
}
