import type { HandlerOf } from '#features/handler.ts'
import { proveLeaf } from '#features/transparency-log/daily-tree/build-tree.ts'
import { proofUrl } from '#features/transparency-log/entries.ts'
import { headsEntry } from './log-heads.ts'
import { findRoot, headTiles } from './store.ts'

export const proveEventHead: HandlerOf<'proveEventHead'> = async ({ ctx: { db, config }, tenantId, query }) => {
  const root = await findRoot(db, query.day)
  if (!root) return { status: 200, data: { heads: null, proof: null } }
  const { day, chains } = root
  const heads = { day, chains, root: root.root.toString('hex'), log_proof: proofUrl(config.publicUrl, headsEntry(root)) }
  const leaf = await headTiles.findLeaf(db, day, [tenantId], (name) => name.startsWith(`${tenantId}/`))
  if (!leaf) return { status: 200, data: { heads, proof: null } }
  const [, sequence, hash = ''] = leaf.name.split('/')
  const path = await proveLeaf(db, headTiles, day, chains, leaf)
  const proof = {
    head: leaf.name,
    sequence: Number(sequence),
    hash,
    salt: leaf.salt.toString('hex'),
    path: path.map(({ sum, ...step }) => ({ ...step, chains: sum })),
  }
  return { status: 200, data: { heads, proof } }
}
