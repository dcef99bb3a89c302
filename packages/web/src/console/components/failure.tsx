import { failureOf } from '../api/failure.ts'
import { CopyText } from './copy.tsx'
import { Icon } from './icon.tsx'

/** The code of an error, the id of its request and the page that explains it. */
export function FailureFacts({ error }: { error: unknown }) {
  const { code, requestId, docUrl } = failureOf(error)
  if (code === undefined) return null
  return (
    <p class="failure-facts">
      <code>{code}</code>
      {requestId !== undefined && <CopyText text={requestId} label="Copy the request id" />}
      {docUrl !== undefined && (
        <a href={docUrl} target="_blank" rel="noopener noreferrer">
          What to do
        </a>
      )}
    </p>
  )
}

interface FailureNoteProps {
  error: unknown
  onRetry?: (() => void) | undefined
  /** The paths of the fields that show their part of the error themselves. */
  shown?: ReadonlySet<string>
}

/** In place of what could not be loaded, or above the buttons of a form that was not accepted. */
export function FailureNote({ error, onRetry, shown }: FailureNoteProps) {
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <div>
        <p>{failureOf(error, shown).message}</p>
        <FailureFacts error={error} />
      </div>
      {onRetry && (
        <button class="button small" type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}
