import type { Handlers } from '../handler.ts'
import {
  createCollection,
  deleteCollection,
  getCollection,
  listCollections,
  rotateCollectionTokens,
} from './operations/collections.ts'
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
