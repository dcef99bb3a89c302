import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { loadConfig, type SpaceConfig } from './config.ts'
import { Announcer } from './components/announcer.tsx'
import { later } from './components/later.tsx'
import { PageBanners } from './components/page-banners.tsx'
import { parseFragment } from './room-link.ts'
import { RoomScreen } from './screens/room-screen.tsx'
import { StartScreen } from './screens/start-screen.tsx'
import { Notice } from './screens/notice.tsx'
import { languageStore } from './text/language.ts'
import { homeHref, readFragment, serviceOrigin } from './service.ts'
import { t } from './text/text.ts'
import { useStore } from './use-store.ts'

const InvitationScreen = later(async () => (await import('./screens/invitation-screen.tsx')).InvitationScreen)
const NameDevice = later(async () => (await import('./screens/second-device.tsx')).NameDevice)
/** As in docs/space/client-sealed.md: the name of the room, that of the owner's device, and two keys. */
const INVITATION = /^#[\w-]{1,128}~[\w-]{43}~[\w-]{258}$/
/** In place of the keys, the card of a second device, which has dots. */
const SECOND_DEVICE = /^#[\w-]{1,128}~~[\w-]{43}~[\w-]*\./

/** Selects the screen by the address. */
export function App() {
  // Renders everything again when the language changes.
  useStore(languageStore, (value) => value.language)
  const fragment = useFragment()
  const config = useConfig()
  return (
    <>
      <PageBanners />
      <Screen fragment={fragment} config={config} />
      <Announcer />
    </>
  )
}

function Screen({ fragment, config }: { fragment: string; config: SpaceConfig | undefined }) {
  if (fragment === '' || fragment === '#') return <StartScreen config={config} />
  if (INVITATION.test(fragment)) return <InvitationScreen key={fragment} invitation={fragment.slice(1)} config={config} />
  if (SECOND_DEVICE.test(fragment)) return <NameDevice key={fragment} fragment={fragment} />
  const secret = parseFragment(fragment)
  if (secret) return <RoomScreen key={fragment} secret={secret} config={config} />
  return (
    <Notice title={t.start.cutTitle}>
      <p>{t.start.cut(<code>#</code>)}</p>
      <p>
        <a class="button" href={homeHref()}>
          {t.start.makeOwn}
        </a>
      </p>
    </Notice>
  )
}

function useFragment(): string {
  const [fragment, setFragment] = useState(readFragment)
  // Any other effect would begin after the first frame, and miss a change before that.
  useLayoutEffect(() => {
    const read = () => setFragment(readFragment())
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return fragment
}

function useConfig(): SpaceConfig | undefined {
  const [config, setConfig] = useState<SpaceConfig>()
  useEffect(() => {
    if (serviceOrigin() !== undefined) void loadConfig().then(setConfig)
  }, [])
  return config
}
