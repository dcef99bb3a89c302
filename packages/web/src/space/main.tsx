import { wait } from '@atrium/room-client/retry'
import { render } from 'preact'
import { App } from './app.tsx'
import { loadConfig } from './config.ts'
import { finishSignIn, isReturn } from './identity/sign-in.ts'
import { noticeStore } from './notice-store.ts'
import { fetchKeptRooms } from './screens/start-screen.tsx'
import { preferredLanguage, showLanguage } from './text/language.ts'

const FETCH_WAIT_MS = 4_000

const root = document.getElementById('app')
if (!root) throw new Error('the page has no place for the app')

// No await at the top level: a language or a panel imports from this module, and would wait for it.
async function start(place: HTMLElement): Promise<void> {
  // A language that takes longer to load replaces English later.
  const fetching = Promise.all([showLanguage(preferredLanguage()), location.hash === '' && fetchKeptRooms()])
  await Promise.race([fetching, wait(FETCH_WAIT_MS, undefined)])
  // Nothing is rendered before the room's link is back in the address bar.
  if (isReturn()) noticeStore.update({ problem: await finishSignIn((await loadConfig()).identity) })
  render(<App />, place)
}

void start(root)
