import { creditsInText, minutesInText } from '../agents/amounts.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import type { RoomSession } from '../room/room-session.ts'
import { wishForList } from '../screens/kept-wish.ts'
import { useStore } from '../use-store.ts'

interface InviteTermsProps {
  agent: CatalogAgent
  session: RoomSession
  config: SpaceConfig
}

/** Nobody should learn afterwards what they have given away. */
export function InviteTerms({ agent, session, config }: InviteTermsProps) {
  const hasList = useStore(session.state, (state) => state.policy) === 'email'
  const isRemote = agent.hosting === 'remote'
  return (
    <section class="terms" aria-labelledby="terms">
      <h3 id="terms">Before you invite it</h3>
      <ul>
        <li>It reads this room: what comes, and what was said from the first message on.</li>
        <li>
          {isRemote
            ? 'This agent runs on a machine of its owner, who is given this room’s key: a key cannot be taken back.'
            : 'This service and whoever runs the agent have this room’s key while it is here. That they forget it afterwards, you trust: a key cannot be taken back.'}
          {hasList && ' The list still counts: once off it, the agent gets in no more, whatever key it has.'}
        </li>
        {isRemote && !hasList && (
          <li>
            Sent away, it can go on reading this room, and write in it as a guest, for as long as it likes: this room lets in
            everyone who has the key.
          </li>
        )}
        <li>What was said stays sealed in storage, for whoever has no key.</li>
        <li>
          It stays until you send it away in this tab, and {minutesInText(agent.max_minutes)} at the most.{' '}
          {agent.price_credits > 0 && `It costs ${creditsInText(agent.price_credits)} once it has come, however soon it goes.`}
        </li>
      </ul>
      {isRemote && !hasList && config.identity && <ListedRoom />}
      <p>
        <a href={`${config.api_url}/docs/agents`} target="_blank" rel="noopener noreferrer">
          Who can read along
        </a>
      </p>
    </section>
  )
}

/** The other way to have it: in a room that can shut it out again. */
function ListedRoom() {
  return (
    <div class="buttons column">
      <p class="hint">In a room with a list the agent gets in only while it is on it, and its stay ends with its session.</p>
      <a class="button" href="/space" onClick={wishForList}>
        Make a room with a list
      </a>
    </div>
  )
}
