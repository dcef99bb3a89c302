import { Badge, Time } from '../../components/format.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { itemName, itemWords } from './item-words.ts'
import type { Flag, Item } from './use-curation.ts'

interface ItemRowProps {
  item: Item
  /** Whether Tab reaches the item itself. */
  isActive: boolean
  onActivate: () => void
  onOpen: () => void
  /** What a moderator does; absent: the member only reads. */
  curate?: {
    isSelected: boolean
    /** `isRange`: up to the item that was selected before. */
    onSelect: (isRange: boolean) => void
    onToggle: (flag: Flag) => void
  }
}

export function ItemRow({ item, isActive, onActivate, onOpen, curate }: ItemRowProps) {
  const author = item.author ?? 'Without an author'
  return (
    <li
      class={`item${item.archived ? ' archived' : ''}${curate?.isSelected ? ' selected' : ''}`}
      tabIndex={isActive ? 0 : -1}
      aria-label={`${author}: ${itemWords(item)} (${statesOf(item).join(', ')})`}
      onFocus={onActivate}
    >
      {curate && (
        <label class="item-pick">
          <input
            type="checkbox"
            aria-label={`Select ${itemName(item)}`}
            checked={curate.isSelected}
            onClick={(event) => curate.onSelect(event.shiftKey)}
          />
        </label>
      )}
      <div class="item-text">
        <p>{itemWords(item)}</p>
        <p class="item-facts">
          <bdi>{author}</bdi>
          <code>{item.type}</code>
          <Time at={item.created_at} />
          <ItemBadges item={item} />
        </p>
      </div>
      <div class="item-actions">
        {curate && (
          <>
            <FlagButton label="Approved" icon="check" isOn={item.approved} onToggle={() => curate.onToggle('approved')} />
            <FlagButton label="Hero" icon="star" isOn={item.hero} onToggle={() => curate.onToggle('hero')} />
            <FlagButton label="Archived" icon="archive" isOn={item.archived} onToggle={() => curate.onToggle('archived')} />
          </>
        )}
        <button class="button small" type="button" onClick={onOpen}>
          Open
        </button>
      </div>
    </li>
  )
}

const tones: Partial<Record<string, 'good' | 'bad' | 'warn'>> = { approved: 'good', 'not approved': 'bad', hero: 'warn' }

function statesOf({ approved, archived, hero }: Item): string[] {
  return [approved ? 'approved' : 'not approved', ...(archived ? ['archived'] : []), ...(hero ? ['hero'] : [])]
}

export function ItemBadges({ item }: { item: Item }) {
  return (
    <span class="item-flags">
      {statesOf(item).map((state) => (
        <Badge key={state} tone={tones[state] ?? 'plain'}>
          {state}
        </Badge>
      ))}
    </span>
  )
}

interface FlagButtonProps {
  label: string
  icon: IconName
  isOn: boolean
  onToggle: () => void
}

function FlagButton({ label, icon, isOn, onToggle }: FlagButtonProps) {
  return (
    <button class="icon-button toggle" type="button" aria-label={label} title={label} aria-pressed={isOn} onClick={onToggle}>
      <Icon name={icon} />
    </button>
  )
}
