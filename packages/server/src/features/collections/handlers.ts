import type { Handlers } from '../handler.ts'
import { createCollection } from './operations/create-collection.ts'
import { deleteCollection } from './operations/delete-collection.ts'
import { getCollection } from './operations/get-collection.ts'
import { listCollections } from './operations/list-collections.ts'
import { rotateCollectionTokens } from './operations/rotate-collection-tokens.ts'
import { setCollectionState, updateCollection } from './operations/update-collection.ts'

export const collectionHandlers = {
  createCollection,
  listCollections,
  rotateCollectionTokens,
  getCollection,
  updateCollection,
  deleteCollection,
  setCollectionState,
} satisfies Partial<Handlers>
