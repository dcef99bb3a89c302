import { useLayoutEffect, useRef } from 'preact/hooks'
import { catalogWords } from '../agents/launch-words.ts'
import type { useCatalog } from '../agents/use-catalog.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import { announce } from '../components/announcer.tsx'
import { Avatar } from '../components/avatar.tsx'
import { AgentFacts } from './agent-facts.tsx'
import { t } from '../text/text.ts'

interface CatalogListProps {
  catalog: ReturnType<typeof useCatalog>
  /** The agent whose button takes the focus. */
  focusOn: string | undefined
  /** Only agents with a key of their own can join, and hosted ones by the owner's consent. */
  isSealed: boolean
  onChoose: (agent: CatalogAgent) => void
}

export function CatalogList({ catalog, focusOn, isSealed, onChoose }: CatalogListProps) {
  const { agents, nextCursor, busy, failure, fetchMore } = catalog
  const list = useRef<HTMLUListElement>(null)
  const canJoin = ({ encryption_key: key, hosting }: CatalogAgent) => !isSealed || key !== undefined || hosting === 'hosted'
  /** Its button is focused when it appears. */
  const focusAt = useRef(agents.filter(canJoin).findIndex(({ id }) => id === focusOn))
  useLayoutEffect(() => {
    const button = list.current?.querySelectorAll('button')[focusAt.current]
    if (!button) return
    focusAt.current = -1
    button.focus()
  }, [agents])
  const more = async () => {
    // The button that was pressed may be gone then.
    focusAt.current = agents.filter(canJoin).length
    const { length } = await fetchMore()
    if (length > 0) announce(t.agents.moreAgents(length))
  }
  return (
    <>
      <p class="hint">{t.agents.hint}</p>
      <ul class="catalog" ref={list}>
        {agents.map((agent) => (
          <li key={agent.id}>
            <Avatar author={{ kind: 'agent', id: agent.id, name: agent.name }} />
            <p>
              <bdi class="name">{agent.name}</bdi>
            </p>
            <div class="about">
              <p class="description" dir="auto">
                {agent.description}
              </p>
              <AgentFacts agent={agent} />
              {isSealed && agent.hosting === 'hosted' && <p class="hint">{t.agents.sealed.hosted}</p>}
              {!canJoin(agent) && <p class="hint">{t.agents.sealed.noKey}</p>}
            </div>
            {canJoin(agent) && (
              <button class="button small" type="button" onClick={() => onChoose(agent)}>
                {t.agents.choose(
                  (shown) => (
                    <span class="visually-hidden">{shown}</span>
                  ),
                  agent.name,
                )}
              </button>
            )}
          </li>
        ))}
      </ul>
      {busy && agents.length === 0 && <p class="hint">{t.agents.fetchingCatalog}</p>}
      {!busy && failure === undefined && agents.length === 0 && <p class="hint">{t.agents.noAgents}</p>}
      {failure !== undefined && (
        <p class="problem" role="alert">
          {t.titled(catalogWords(failure).title, catalogWords(failure).text)}
        </p>
      )}
      {(nextCursor !== undefined || failure !== undefined) && (
        <div class="buttons">
          <button class="button" type="button" aria-disabled={busy} onClick={() => busy || void more()}>
            {busy ? t.agents.fetching : failure === undefined ? t.showMore : t.tryAgain}
          </button>
        </div>
      )}
    </>
  )
}
