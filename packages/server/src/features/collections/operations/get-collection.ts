import type { HandlerOf } from '#features/handler.ts'
import { collectionView } from '../collection.ts'

export const getCollection: HandlerOf<'getCollection'> = async ({ collection, owner }) => ({
  status: 200,
  data: collectionView(collection, owner),
})
