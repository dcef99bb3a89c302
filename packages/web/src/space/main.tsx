import { wait } from '@atrium/room-client/retry'
import { render } from 'preact'
import { App } from './app.tsx'
import { loadConfig } from './config.ts'
import { finishSignIn, isReturn } from './identity/sign-in.ts'
import { preferredLanguage, showLanguage } from './text/language.ts'

const LANGUAGE_WAIT_MS = 4_000

const root = document.getElementById('app')
if (!root) throw new Error('the page has no place for the app')

// A language that takes longer replaces English when it comes.
await Promise.race([showLanguage(preferredLanguage()), wait(LANGUAGE_WAIT_MS, undefined)])

if (isReturn()) {
  // Nothing is drawn before the room's link is back in the address bar.
  const config = await loadConfig()
  const problem = await finishSignIn(config.identity)
  render(<App problem={problem} />, root)
} else {
  render(<App problem={undefined} />, root)
}
