import { useLayoutEffect, useRef } from 'preact/hooks'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'
import { Dialog } from '../components/dialog.tsx'

export interface Shortcut {
  /** One key such as j or ?, or two in a row such as "g c". */
  keys: string
  label: string
  run: () => void
}

interface Group {
  title: string
  shortcuts: readonly Shortcut[]
}

const groups = new Map<object, () => Group>()
const state = new Store<{ isHelpShown: boolean }>({ isHelpShown: false })
/** The first key of a pair waits this long for the second. */
const PAIR_MS = 1_200
let first: { key: string; atMs: number } | undefined

/** Shortcuts that work while the component is shown. They are listed in the help sheet below `title`. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  // Before the page is shown: somebody who sees it may press a key at once.
  useLayoutEffect(() => {
    const id = {}
    groups.set(id, () => ({ title, shortcuts: latest.current }))
    return () => void groups.delete(id)
  }, [title])
}

export function showShortcuts(): void {
  state.update({ isHelpShown: true })
}

/** Whether a key belongs to the element that has the focus. A checkbox has only the space bar. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return false
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  // A dialog has the keyboard for itself.
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return
  const pair = first && event.timeStamp - first.atMs < PAIR_MS ? `${first.key} ${event.key}` : undefined
  first = undefined
  // The newest group first: a page replaces a shortcut of the shell.
  const all = [...groups.values()].toReversed().flatMap((read) => read().shortcuts)
  const found =
    (pair === undefined ? undefined : all.find(({ keys }) => keys === pair)) ?? all.find(({ keys }) => keys === event.key)
  if (found) {
    event.preventDefault()
    found.run()
  } else if (all.some(({ keys }) => keys.startsWith(`${event.key} `))) first = { key: event.key, atMs: event.timeStamp }
})

/** The sheet that lists every shortcut of the page that is shown. */
export function ShortcutSheet() {
  const isShown = useStore(state, (value) => value.isHelpShown)
  if (!isShown) return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => state.update({ isHelpShown: false })}>
      <div class="dialog-body shortcut-groups" tabIndex={0}>
        {[...groups.values()].map((read) => {
          const { title, shortcuts } = read()
          return (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {shortcuts.map(({ keys, label }) => (
                  <div key={keys}>
                    <dt>{label}</dt>
                    <dd>
                      <Keys keys={keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          )
        })}
      </div>
    </Dialog>
  )
}

export function Keys({ keys }: { keys: string }) {
  return (
    <span class="keys">
      {keys.split(' ').map((key, at) => (
        <kbd key={at}>{key}</kbd>
      ))}
    </span>
  )
}
