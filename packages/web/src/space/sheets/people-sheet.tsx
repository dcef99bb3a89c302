import { AgentMark } from '../components/agent-mark.tsx'
import { authorId, authorName, authorNote, type Participant, participantsOf } from '../components/authors.ts'
import { Avatar } from '../components/avatar.tsx'
import { dayInText, wholeMoment } from '../components/format-time.ts'
import { Sheet } from '../components/sheet.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { useMine } from '../messages/use-mine.ts'
import { AgentList } from './agent-list.tsx'
import { MemberList } from './member-list.tsx'
import { t } from '../text/text.ts'

interface PeopleSheetProps {
  session: RoomSession
  onClose: () => void
  /** Whether agents can be invited from the catalog. */
  hasCatalog: boolean
  onInvite: () => void
}

export function PeopleSheet({ session, onClose, hasCatalog, onInvite }: PeopleSheetProps) {
  const chunks = useStore(session.state, (state) => state.chunks)
  const policy = useStore(session.state, (state) => state.policy)
  const hasEarlier = useStore(session.state, (state) => state.hasEarlier)
  const isMine = useMine(session)
  const people = participantsOf(chunks.flatMap(({ entries }) => entries))
  return (
    <Sheet title={t.people.title} onClose={onClose} docks>
      <section aria-labelledby="written">
        <h3 id="written">{t.people.written}</h3>
        {people.length === 0 ? (
          <p class="hint">{t.people.nobody}</p>
        ) : (
          <ul class="people">
            {people.map((person) => (
              <Person key={authorId(person.author)} person={person} isYou={isMine(person.newest)} />
            ))}
          </ul>
        )}
        {hasEarlier && <p class="hint">{t.people.counted}</p>}
      </section>
      {session.secret.kind === 'client-sealed' && <p class="hint">{t.protection.kinds}</p>}
      {policy === 'email' ? (
        <MemberList session={session} people={people} hasCatalog={hasCatalog} onInvite={onInvite} />
      ) : (
        <AgentList agents={[]} people={people} change={undefined} hasCatalog={hasCatalog} onInvite={onInvite} />
      )}
    </Sheet>
  )
}

function Person({ person: { author, newest, count, allProven }, isYou }: { person: Participant; isYou: boolean }) {
  const note = authorNote(author)
  const when = (
    <time dateTime={newest.at} title={wholeMoment(newest.at)}>
      {dayInText(newest.at)}
    </time>
  )
  return (
    <li>
      <Avatar author={author} />
      <div class="person">
        <p>
          <bdi class="name">{authorName(author)}</bdi> {isYou && <span class="optional">{t.authors.isYou}</span>}
          {author.kind === 'agent' && <AgentMark />}
        </p>
        <p class="hint">
          {!(isYou && author.kind === 'anonymous') && note !== undefined && (
            <>
              <bdi>{note}</bdi>
              {' · '}
            </>
          )}
          {author.kind === 'agent' && author.name !== undefined && (
            <>
              <bdi class="agent-id">{author.id}</bdi>
              {' · '}
            </>
          )}
          {t.people.activity(count, when)}
          {allProven && ` · ${t.people.signed}`}
        </p>
      </div>
    </li>
  )
}
