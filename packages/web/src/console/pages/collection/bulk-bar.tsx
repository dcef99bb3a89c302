import type { ComponentChildren } from 'preact'
import { CurlButton } from '../../components/curl-button.tsx'
import { formatNumber } from '../../components/format.tsx'
import { Keys } from '../../shell/shortcuts.tsx'
import { MAX_ITEMS } from './curate-many.ts'
import type { BulkAction } from './use-curation.ts'
import type { Selection } from './use-selection.ts'

const actions: readonly (readonly [action: BulkAction, label: string])[] = [
  ['approve', 'Approve'],
  ['unapprove', 'Unapprove'],
  ['archive', 'Archive'],
  ['restore', 'Restore'],
  ['delete', 'Delete'],
]

interface BulkBarProps {
  collectionId: string
  selection: Selection
  /** How many items are shown. */
  count: number
  onAction: (action: BulkAction) => void
  /** In place of the buttons while nothing is selected, so that the list does not move. */
  children: ComponentChildren
}

/** Selects all items, and acts on those that are selected. On a phone the buttons are at the bottom of the screen. */
export function BulkBar({ collectionId: id, selection, count, onAction, children }: BulkBarProps) {
  const { ids, toggleAll, set } = selection
  const isAll = ids.length === count
  const isSome = ids.length > 0
  return (
    <div class="bulk">
      <label class="check">
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = isSome && !isAll
          }}
          onChange={toggleAll}
        />
        Select all {formatNumber(count)} shown
      </label>
      {/* Always in the page: a live region must exist before its text changes. */}
      <span class="visually-hidden" role="status">
        {isSome && `${formatNumber(ids.length)} selected`}
      </span>
      {!isSome && children}
      {isSome && (
        <div class="bulk-actions" role="group" aria-label="Selected items">
          <b>{formatNumber(ids.length)} selected</b>
          <span class="row-actions">
            {actions.map(([action, label]) => (
              <button
                key={action}
                class={action === 'delete' ? 'button small danger' : 'button small'}
                type="button"
                onClick={() => onAction(action)}
              >
                {label}
              </button>
            ))}
          </span>
          <span class="row-actions">
            <CurlButton
              what="approve the selected items"
              call={() => [
                'curateItems',
                { id, collectionToken: '$COLLECTION_TOKEN', body: { ids: ids.slice(0, MAX_ITEMS), patch: { approved: true } } },
              ]}
            />
            <button class="button small" type="button" onClick={() => set([])}>
              Clear <Keys keys="Escape" />
            </button>
          </span>
        </div>
      )}
    </div>
  )
}
