import { curateItems } from './operations/curate-items.ts'
import type { Handlers } from '../handler.ts'
import { addItem } from './operations/add-item.ts'
import { curateItem } from './operations/curate-item.ts'
import { deleteItem } from './operations/delete-item.ts'
import { exportItems } from './operations/export-items.ts'
import { listOpenItems } from './operations/list-open-items.ts'
import { getItem, listItems } from './operations/read-items.ts'

export const itemHandlers = {
  listItems,
  listOpenItems,
  addItem,
  getItem,
  curateItem,
  curateItems,
  deleteItem,
  exportItems,
} satisfies Partial<Handlers>
