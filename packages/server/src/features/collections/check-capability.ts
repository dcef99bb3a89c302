import { timingSafeEqual } from 'node:crypto'
import type { Capability } from '@atrium/contract/operation'
import { isCredential } from '@atrium/contract/tokens'
import type { Collection } from './collection.ts'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'

/** Checks X-Collection-Token against the collection. Returns whether the caller is its owner. */
export function checkCapability(capability: Capability, token: string | undefined, collection: Collection): boolean {
  const holder = token === undefined ? 'nobody' : holderOf(token, collection)
  if (capability === 'owner' && holder !== 'owner') throw new ApiError('owner_token_required')
  if (capability === 'contributor' && holder === 'nobody' && collection.contributorPolicy === 'token') {
    throw new ApiError('contributor_token_required')
  }
  return holder === 'owner'
}

function holderOf(token: string, collection: Collection): 'owner' | 'contributor' | 'nobody' {
  if (isCredential('adminToken', token)) {
    return timingSafeEqual(hashCredential(token), collection.adminTokenHash) ? 'owner' : 'nobody'
  }
  const { contributorTokenHash } = collection
  if (
    contributorTokenHash &&
    isCredential('contributorToken', token) &&
    timingSafeEqual(hashCredential(token), contributorTokenHash)
  ) {
    return 'contributor'
  }
  return 'nobody'
}
