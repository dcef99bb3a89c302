import { invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { newId } from '#crypto/random.ts'
import { recordEvent } from '#features/events/record-event.ts'
import { artifactEvent } from '../artifact.ts'
import { insertHostedArtifact } from '../store.ts'

export const createArtifact: HandlerOf<'createArtifact'> = async ({ ctx, tx, tenantId, collection, body }) => {
  const { kind, title = null, alt = null } = body
  const id = newId('artifact')
  const url = hostedUrl(body.url, ctx.config.publicUrl)
  await insertHostedArtifact(tx, tenantId, collection.id, { id, kind, url, title, alt })
  await recordEvent(tx, tenantId, 'artifact.ready', artifactEvent(collection.id, { id, kind, source: 'url' }))
  return { status: 201, data: { id } }
}

/** Accepts https, and this installation's own origin, which is plain http in development. */
function hostedUrl(text: string, publicUrl: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'https:' && url.origin !== new URL(publicUrl).origin))
    throw invalid('/url', 'must be an https address')
  if (url.username || url.password) throw invalid('/url', 'must not contain a user name or password')
  return url.href
}
