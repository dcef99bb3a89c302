import { api } from '../../api/api.ts'
import { may } from '../../api/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { CopyText } from '../../components/copy.tsx'
import { CurlButton } from '../../components/curl-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Facts } from '../../components/facts.tsx'
import { formatTime, Time } from '../../components/format.tsx'
import { confirm } from '../../shell/confirm.tsx'
import { ItemBadges } from './item-row.tsx'
import { itemName } from './item-words.ts'
import type { Item } from './use-curation.ts'

const readers: Record<Item['access'], string> = {
  owner: 'Only the owner',
  open: 'Everyone with the publishable key, while it is approved and not archived',
  email: 'The accounts that it is granted to',
}

interface ItemDialogProps {
  collectionId: string
  item: Item
  onClose: () => void
  /** Called after the access of the item was changed. */
  onChange: (access: Item['access']) => void
  onDeleted: () => void
}

/** All of one item, as it is stored. */
export function ItemDialog({ collectionId, item, onClose, onChange, onDeleted }: ItemDialogProps) {
  const [isBusy, run] = useAction()
  const other = item.access === 'open' ? 'owner' : 'open'
  const change = async () => {
    const done = other === 'open' ? 'Everyone can read the item' : 'Only the owner can read the item'
    const send = async () => void (await api.curateItem({ id: collectionId, itemId: item.id, body: { access: other } }))
    if (await run(send, done)) onChange(other)
  }
  const remove = async () => {
    const isSure = await confirm({
      title: 'Delete the item?',
      text: <p>The item is deleted for everyone, and cannot be brought back. Archiving hides it instead.</p>,
      action: 'Delete the item',
    })
    if (!isSure) return
    if (await run(async () => void (await api.deleteItem({ id: collectionId, itemId: item.id })), 'The item is deleted'))
      onDeleted()
  }
  return (
    <Dialog title={itemName(item)} layout="side" onClose={onClose}>
      <div class="dialog-body">
        <Facts
          facts={[
            ['Author', item.author ?? <span class="muted">Without an author</span>],
            ['Type', <code>{item.type}</code>],
            [
              'Added',
              <>
                {formatTime(item.created_at)} (<Time at={item.created_at} />)
              </>,
            ],
            ['State', <ItemBadges item={item} />],
            ['Who reads it', readers[item.access]],
            ['Id', <CopyText text={item.id} label="Copy the id" />],
          ]}
        />
        <pre class="json" tabIndex={0}>
          {JSON.stringify(item.content, null, 2)}
        </pre>
        <div class="dialog-foot">
          <span class="row-actions">
            <CurlButton
              what="read this item"
              call={() => ['getItem', { id: collectionId, itemId: item.id, collectionToken: '$COLLECTION_TOKEN' }]}
            />
            {may('curate') && (
              <CurlButton
                what={item.approved ? 'take back the approval' : 'approve this item'}
                call={() => [
                  'curateItem',
                  {
                    id: collectionId,
                    itemId: item.id,
                    collectionToken: '$COLLECTION_TOKEN',
                    body: { approved: !item.approved },
                  },
                ]}
              />
            )}
          </span>
          {may('curate') && (
            <button class="button" type="button" disabled={isBusy} onClick={() => void change()}>
              {other === 'open' ? 'Show to everyone' : 'Show to the owner only'}
            </button>
          )}
          {may('curate') && (
            <button class="button danger" type="button" disabled={isBusy} onClick={() => void remove()}>
              Delete
            </button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
