import type { Handlers } from '../handler.ts'
import { addItem } from './operations/add-item.ts'
import { curateItem, curateItems, deleteItem } from './operations/curation.ts'
import { exportItems } from './operations/export-items.ts'
import { getItem, listItems, listOpenItems } from './operations/read-items.ts'

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
