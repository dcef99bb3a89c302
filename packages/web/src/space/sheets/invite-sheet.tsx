import { useState } from 'preact/hooks'
import type { InvitedAgents } from '../agents/invited-agents.ts'
import { useCatalog } from '../agents/use-catalog.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import { Sheet } from '../components/sheet.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { AgentById } from './agent-by-id.tsx'
import { CatalogList } from './catalog-list.tsx'
import { InviteForm } from './invite-form.tsx'
import { useOwnership } from './use-ownership.ts'
import { t } from '../text/text.ts'

interface InviteSheetProps {
  session: RoomSession
  config: SpaceConfig
  /** undefined: without a catalog, an agent can be let in only by its id. */
  invited: InvitedAgents | undefined
  /** An agent is on the list. */
  onLetIn: () => void
  onClose: () => void
}

/** The one way to invite an agent: from the catalog or, for the owner of the room's list, by the agent's id. */
export function InviteSheet({ session, config, invited, onLetIn, onClose }: InviteSheetProps) {
  const [isChosen, setIsChosen] = useState(false)
  const hasList = useStore(session.state, (state) => state.policy) === 'email'
  const isOwner = useOwnership(session) === 'account'
  return (
    <Sheet title={t.agents.invite} onClose={onClose} docks>
      {invited && <FromCatalog session={session} config={config} invited={invited} onChosen={setIsChosen} onClose={onClose} />}
      {hasList && isOwner && !isChosen && <AgentById session={session} onDone={onLetIn} />}
    </Sheet>
  )
}

interface FromCatalogProps extends Omit<InviteSheetProps, 'onLetIn'> {
  invited: InvitedAgents
  onChosen: (isChosen: boolean) => void
}

/** First which agent, then on which terms. */
function FromCatalog({ session, config, invited, onChosen, onClose }: FromCatalogProps) {
  const catalog = useCatalog(invited.api)
  const [chosen, setChosen] = useState<CatalogAgent>()
  /** Where one was in the list before. */
  const [seen, setSeen] = useState<CatalogAgent>()
  const choose = (agent: CatalogAgent | undefined) => {
    setChosen(agent)
    if (agent) setSeen(agent)
    onChosen(agent !== undefined)
  }
  if (!chosen) return <CatalogList catalog={catalog} focusOn={seen?.id} isSealed={invited.isSealed} onChoose={choose} />
  return (
    <InviteForm
      key={chosen.id}
      agent={chosen}
      session={session}
      invited={invited}
      config={config}
      onBack={() => choose(undefined)}
      onDone={onClose}
    />
  )
}
