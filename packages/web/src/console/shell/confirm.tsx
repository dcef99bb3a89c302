import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'
import { Dialog } from '../components/dialog.tsx'

interface Question {
  title: string
  text: ComponentChildren
  /** The words of the button that goes ahead, such as "Revoke the key". */
  action: string
  /** Typed before the button works, for what cannot be undone. */
  typed?: string
}

const store = new Store<{ asked: (Question & { answer: (yes: boolean) => void }) | undefined }>({ asked: undefined })

/** Asks before an action that cannot be undone. Resolves to whether to go ahead. */
export function confirm(question: Question): Promise<boolean> {
  store.value.asked?.answer(false)
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      store.update({ asked: undefined })
      resolve(yes)
    }
    store.update({ asked: { ...question, answer } })
  })
}

/** The place where confirm() asks. */
export function Confirmation() {
  const asked = useStore(store, (value) => value.asked)
  return asked ? <ConfirmDialog key={asked.title} {...asked} /> : null
}

function ConfirmDialog({ title, text, action, typed, answer }: Question & { answer: (yes: boolean) => void }) {
  const [given, setGiven] = useState('')
  const isReady = typed === undefined || (given !== '' && visible(given) === visible(typed))
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <form
        class="dialog-body"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) answer(true)
        }}
      >
        <div class="prose">{text}</div>
        {typed !== undefined && (
          <label class="field">
            <span>
              Type <b dir="auto">{typed}</b> to confirm
            </span>
            <input
              class="input"
              value={given}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setGiven(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="dialog-foot">
          <button class="button" type="button" autofocus={typed === undefined} onClick={() => answer(false)}>
            Cancel
          </button>
          <button class="button danger" type="submit" disabled={!isReady}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The text as a person sees it: spaces in a row are shown as one, and format characters are not shown. */
function visible(text: string): string {
  return text
    .normalize()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
}
