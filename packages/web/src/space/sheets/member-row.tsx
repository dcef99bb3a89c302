import type { AdmittedAgent, Member } from '@atrium/sealing/records'
import { AgentMark } from '../components/agent-mark.tsx'
import { dayInText, wholeMoment } from '../components/format-time.ts'
import { t } from '../text/text.ts'

interface MemberRowProps {
  name: string
  member: Member | AdmittedAgent
  isOwner?: boolean
  /** undefined: the viewer may not change the list. */
  onExpel?: () => Promise<boolean>
  onAdmit?: () => Promise<boolean>
}

/** A person or agent that is or was on the list. An agent that has written is shown with its name and id. */
export function MemberRow({ name, member, isOwner = false, onExpel, onAdmit }: MemberRowProps) {
  const { admitted_at, revoked_at } = member
  const isIn = revoked_at === undefined
  const at = revoked_at ?? admitted_at
  const when = (
    <time dateTime={at} title={wholeMoment(at)}>
      {dayInText(at)}
    </time>
  )
  const visuallyHidden = (words: string) => <span class="visually-hidden">{words}</span>
  return (
    <li class={isIn ? undefined : 'revoked'}>
      <div class="person">
        <p>
          <bdi class="name">{name}</bdi> {'id' in member && <AgentMark />}{' '}
          {isOwner && <span class="badge">{t.people.owner}</span>}
        </p>
        <p class="hint">
          {'id' in member && member.id !== name && (
            <>
              <bdi class="agent-id">{member.id}</bdi>
              {' · '}
            </>
          )}
          {isIn ? t.people.letInAt(when) : t.people.removedAt(when)}
        </p>
      </div>
      {!isOwner && onExpel && onAdmit && (
        <button
          class="button small"
          type="button"
          // The second click of a double click would take back what the first one did.
          onClick={({ detail }) => detail < 2 && void (isIn ? onExpel() : onAdmit())}
        >
          {isIn ? t.people.remove(visuallyHidden, name) : t.people.letInAgain(visuallyHidden, name)}
        </button>
      )}
    </li>
  )
}
