import type { ConsoleSession } from '../api/session.ts'

/** The command that makes a one-time link like the one that this session began with. */
export function linkCommand({ tenant, development }: Pick<ConsoleSession, 'tenant' | 'development'>): string {
  return `${atriumCommand(development)} console-link ${tenant ? `--tenant ${tenant.id}` : '--operator'}`
}

/** How the command line is called: in development, the package is not installed. */
export function atriumCommand(isDevelopment: boolean): string {
  return isDevelopment ? 'npm run -s atrium --' : 'atrium'
}

/** A command in a sentence. A line breaks between words, or within a word that is longer than the line. */
export function Command({ text }: { text: string }) {
  return (
    <code>
      {text.split(' ').flatMap((word, at) => [
        at > 0 && ' ',
        <span key={at} class="command-word">
          {word}
        </span>,
      ])}
    </code>
  )
}
