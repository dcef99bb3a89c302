import type { CatalogAgent } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import type { RoomSession } from '../room/room-session.ts'
import { draftList } from '../screens/form-draft.ts'
import { useStore } from '../use-store.ts'
import { homeHref } from '../service.ts'
import { t } from '../text/text.ts'

interface InviteTermsProps {
  agent: CatalogAgent
  session: RoomSession
  config: SpaceConfig
}

/** The terms are shown before the invitation, so that visitors know what they give away. */
export function InviteTerms({ agent, session, config }: InviteTermsProps) {
  const hasList = useStore(session.state, (state) => state.policy) === 'email'
  const { terms, sealed } = t.agents
  const isSealed = session.listed !== undefined
  const isRemote = agent.hosting === 'remote'
  return (
    <section class="terms" aria-labelledby="terms">
      <h3 id="terms">{terms.title}</h3>
      <ul>
        <li>{terms.reads}</li>
        {isSealed && (
          <>
            <li>{isRemote ? sealed.remote : sealed.operator}</li>
            <li>{sealed.leaves}</li>
            <li>{isRemote ? sealed.present : sealed.noticeStays}</li>
          </>
        )}
        {!isSealed && (
          <li>
            {isRemote ? terms.remote : terms.hosted} {hasList && terms.list}
          </li>
        )}
        {isRemote && !hasList && <li>{terms.remoteOpen}</li>}
        {!isSealed && <li>{terms.sealed}</li>}
        <li>
          {(isSealed ? sealed : terms).stays(agent.max_minutes)} {agent.price_credits > 0 && terms.costs(agent.price_credits)}
        </li>
      </ul>
      {isRemote && !hasList && config.identity && <ListedRoom />}
      <p>
        <a class="link-button" href={`${config.api_url}/docs/agents`} target="_blank" rel="noopener noreferrer">
          {terms.whoReads}
        </a>
      </p>
    </section>
  )
}

/** The alternative: a room with a list, from which the agent can be removed. */
function ListedRoom() {
  return (
    <div class="buttons column">
      <p class="hint">{t.agents.terms.listedRoom}</p>
      <a class="button" href={homeHref()} onClick={draftList}>
        {t.agents.terms.makeListed}
      </a>
    </div>
  )
}
