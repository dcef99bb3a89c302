import { currentSession, signOut } from '../api/api.ts'
import { confirm } from './confirm.tsx'
import { Command, linkCommand } from './link-command.tsx'

/** Asks, and ends all sessions of the person. */
export async function signOutEverywhere(): Promise<void> {
  const session = currentSession()
  const isSure = await confirm({
    title: 'Sign out everywhere?',
    text: (
      <>
        <p>Every browser that you are signed in with is signed out, this one too.</p>
        {!session.member && (
          <p>
            You came by a one-time link, and are not a member: you need a new link from the operator, who makes it with{' '}
            <Command text={linkCommand(session)} />.
          </p>
        )}
      </>
    ),
    action: 'Sign out everywhere',
  })
  if (isSure) await signOut(true)
}
