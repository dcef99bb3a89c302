import { useState } from 'preact/hooks'
import type { InvitedAgents } from '../agents/invited-agents.ts'
import { useCatalog } from '../agents/use-catalog.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import { Sheet } from '../parts/sheet.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { CatalogList } from './catalog-list.tsx'
import { InviteForm } from './invite-form.tsx'
import { t } from '../text/text.ts'

interface InviteSheetProps {
  session: RoomSession
  config: SpaceConfig
  invited: InvitedAgents
  onClose: () => void
}

/** First which agent, then on which terms. */
export function InviteSheet({ session, config, invited, onClose }: InviteSheetProps) {
  const catalog = useCatalog(invited.api)
  const [chosen, setChosen] = useState<CatalogAgent>()
  /** Where one was in the list before. */
  const [seen, setSeen] = useState<CatalogAgent>()
  const choose = (agent: CatalogAgent) => {
    setChosen(agent)
    setSeen(agent)
  }
  return (
    <Sheet title={t.agents.invite} onClose={onClose}>
      {chosen ? (
        <InviteForm
          key={chosen.id}
          agent={chosen}
          session={session}
          invited={invited}
          config={config}
          onBack={() => setChosen(undefined)}
          onDone={onClose}
        />
      ) : (
        <CatalogList catalog={catalog} focusOn={seen?.id} onChoose={choose} />
      )}
    </Sheet>
  )
}
