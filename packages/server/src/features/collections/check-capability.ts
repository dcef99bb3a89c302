import { timingSafeEqual } from 'node:crypto'
import type { Capability } from '@atrium/contract/operation'
import { isCredential } from '@atrium/contract/tokens'
import type { Collection } from './collection.ts'
import { hashCredential } from '#crypto/random.ts'
import { ApiError } from '#errors/api-error.ts'

/** Checks X-Collection-Token against the collection. Returns whether the caller is its owner. */
export function checkCapability(capability: Capability, token: string | undefined, collection: Collection): boolean {
  const holder = token === undefined ? 'nobody' : holderOf(token, collection)
  if (capability === 'owner' && holder !== 'owner') {
    const message = `${explainToken(token)} Send the admin_token of this collection (cat_…) as X-Collection-Token.`
    throw new ApiError('owner_token_required', { message })
  }
  if (capability === 'contributor' && holder === 'nobody' && collection.contributorPolicy === 'token') {
    const message = `${explainToken(token)} Send the contributor_token (cct_…) or the admin_token (cat_…) of this collection as X-Collection-Token.`
    throw new ApiError('contributor_token_required', { message })
  }
  return holder === 'owner'
}

/** Explains what is wrong with the token, from its form alone. */
function explainToken(token: string | undefined): string {
  if (token === undefined) return 'The header X-Collection-Token is missing.'
  if (token === '') return 'The header X-Collection-Token is empty.'
  if (isCredential('adminToken', token))
    return 'X-Collection-Token is an admin token, but not that of this collection: it belongs to another one, or it was rotated.'
  if (isCredential('contributorToken', token))
    return 'X-Collection-Token is a contributor token, which only adds items, or that of another collection.'
  if (/^w[ps]k_/.test(token)) return 'X-Collection-Token is a key. The key belongs in the Authorization header.'
  if (/^c[ac]t_/.test(token))
    return 'The checksum of X-Collection-Token is wrong: a character of the token is mistyped or missing.'
  return 'X-Collection-Token is not a token of a collection.'
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
