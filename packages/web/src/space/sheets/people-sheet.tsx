import { authorId, authorName, type Participant, participantsOf } from '../parts/authors.ts'
import { Avatar } from '../parts/avatar.tsx'
import { dayInText, wholeMoment } from '../parts/moments.ts'
import { Sheet } from '../parts/sheet.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { useMine } from '../messages/use-mine.ts'
import { MemberList } from './member-list.tsx'

export function PeopleSheet({ session, onClose }: { session: RoomSession; onClose: () => void }) {
  const chunks = useStore(session.state, (state) => state.chunks)
  const policy = useStore(session.state, (state) => state.policy)
  const hasEarlier = useStore(session.state, (state) => state.hasEarlier)
  const isMine = useMine(session)
  const people = participantsOf(chunks.flatMap(({ entries }) => entries))
  return (
    <Sheet title="People" onClose={onClose}>
      <section aria-labelledby="written">
        <h3 id="written">Who has written</h3>
        {people.length === 0 ? (
          <p class="hint">Nobody yet.</p>
        ) : (
          <ul class="people">
            {people.map((person) => (
              <Person key={authorId(person.author)} person={person} isYou={isMine(person.newest)} />
            ))}
          </ul>
        )}
        {hasEarlier && <p class="hint">Counted in the messages that are loaded.</p>}
      </section>
      {policy === 'email' && <MemberList session={session} />}
    </Sheet>
  )
}

function Person({ person: { author, newest, count, allProven }, isYou }: { person: Participant; isYou: boolean }) {
  return (
    <li>
      <Avatar author={author} />
      <div class="person">
        <p>
          <bdi class="name">{authorName(author)}</bdi> {isYou && <span class="optional">you</span>}
          {author.kind === 'agent' && <span class="badge">Agent</span>}
        </p>
        <p class="hint">
          {author.kind === 'account' && author.name !== undefined && <bdi>{author.email} · </bdi>}
          {count === 1 ? '1 message' : `${count.toLocaleString()} messages`},{' '}
          <time dateTime={newest.at} title={wholeMoment(newest.at)}>
            {dayInText(newest.at)}
          </time>
          {allProven && ' · signed by their device'}
        </p>
      </div>
    </li>
  )
}
