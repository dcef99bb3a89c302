import type { TSchema } from 'typebox'
import { AgentPatch, Agent, AgentRegistration, ToolDecl, ToolShown } from './agent-schemas.ts'
import { CatalogAgent, RatingAggregate } from './catalog.ts'
import { Checkout } from './checkout.ts'
import { LicenseRedemption, TokenRedemption } from './credits.ts'
import { Epoch, RsaPublicJwk } from './epochs.ts'
import { Event, eventType } from './events.ts'
import { GenericOk, PublicJwk } from './schemas.ts'
import { Session, SessionAlreadyPresent, SessionArmed, SessionLaunch, SessionStatus } from './session-schemas.ts'
import * as space from './space-schemas.ts'
import { operations } from './table.ts'
import { idSchemaPattern } from './tokens.ts'
import { UsageRow } from './usage.ts'
import { Delivery, Webhook } from './webhooks.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** The value as JSON represents it; undefined if there is none. */
export function jsonOf(value: unknown): Json | undefined {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** A schema as OpenAPI shows it. */
export function schemaJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema))
}

const ops = operations

/** The named schemas. An operation's schemas are read from the operation, so that a replaced schema keeps its name. */
const named: Record<string, TSchema> = {
  Tenant: ops.getTenant.answers[200].data,
  TenantCreated: ops.createTenant.answers[201].data,
  Key: ops.listKeys.answers[200].data.items,
  KeyCreate: ops.createKey.body,
  KeyCreated: ops.createKey.answers[201].data,
  ProviderKeys: ops.getProviderKeys.answers[200].data,
  Webhook,
  Delivery,
  Event,
  EventType: eventType,
  UsageRow,
  CollectionCreate: ops.createCollection.body,
  CollectionCreated: ops.createCollection.answers[201].data,
  CollectionPublic: ops.getCollection.answers[200].data,
  CollectionPatch: ops.updateCollection.body,
  CollectionOwner: ops.listItems.answers[200].data,
  Item: ops.getItem.answers[200].data,
  CollectionItemCreate: ops.addItem.body,
  CurationPatch: ops.curateItem.body,
  Artifact: ops.getArtifact.answers[200].data,
  ArtifactCreate: ops.createArtifact.body,
  ArtifactCurationPatch: ops.curateArtifact.body,
  ArtifactStarted: ops.paintArtifact.answers[202].data,
  GenericOk,
  Agent,
  AgentRegistration,
  AgentPatch,
  ToolDecl,
  ToolShown,
  CatalogAgent,
  RatingAggregate,
  SessionLaunch,
  Session,
  SessionArmed,
  SessionAlreadyPresent,
  SessionStatus,
  LicenseRedemption,
  TokenRedemption,
  Epoch,
  RsaPublicJwk,
  PublicJwk,
  Checkout,
  ...space,
}

/** The schema of every error except those of the Space endpoint. */
const errorSchemas: Record<'Error' | 'FlatError' | 'ResponseMeta', JsonObject> = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', description: 'For programs. Further codes may be added.' },
          message: { type: 'string', description: 'For people. The wording may change.' },
          doc_url: { type: 'string', format: 'uri', description: 'The page about the code: its cause and its remedy.' },
          request_id: { type: 'string', pattern: idSchemaPattern('request'), description: 'The same as X-Request-Id.' },
          reason: {
            type: 'string',
            description:
              'With not_authorized: which check failed. With unavailable: outcome_unknown, where the request may ' +
              'have taken effect.',
          },
          details: {
            type: 'array',
            items: {
              type: 'object',
              required: ['path', 'message'],
              properties: {
                path: { type: 'string', description: 'A JSON Pointer into the body or the query, or the name of a header.' },
                message: { type: 'string' },
                sealed: {
                  type: 'string',
                  description: 'With already_spent, where a recovery_key was sent: the wallet code, sealed to it (compact JWE).',
                },
                price_credits: {
                  type: 'integer',
                  description: 'With price_changed: what the agent costs now, in whole credits.',
                },
                agreed_price_credits: {
                  type: 'integer',
                  description: 'With price_changed: the most that was agreed to, in whole credits.',
                },
              },
            },
          },
        },
      },
    },
  },
  FlatError: {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string' }, reason: { type: 'string' } },
  },
  ResponseMeta: {
    type: 'object',
    properties: {
      next_cursor: { type: 'string', description: 'Opaque cursor of the next page. Absent on the last page.' },
      warnings: {
        type: 'array',
        description: 'Accepted input that looks like a mistake. Absent where nothing does.',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: { path: { type: 'string', description: 'A JSON Pointer into the body.' }, message: { type: 'string' } },
        },
      },
    },
  },
}

/** Collects the named schemas that a document uses. */
export interface SchemaCollector {
  /** The schema as JSON, with each named one in it (or itself) replaced by a reference. */
  emit: (schema: TSchema) => Json
  /** A reference to one of the shared schemas. */
  ref: (name: 'Error' | 'FlatError' | 'ResponseMeta') => JsonObject
  /** components.schemas: the schemas that were used, by name. */
  collected: () => JsonObject
}

/** Creates a collector for one document. */
export function collectSchemas(): SchemaCollector {
  const nameOf = new Map<string, string>()
  for (const [name, schema] of Object.entries(named)) {
    const text = JSON.stringify(schema)
    const other = nameOf.get(text)
    if (other) throw new Error(`The schemas ${other} and ${name} are the same object: give only one of them a name`)
    nameOf.set(text, name)
  }
  const used = new Map<string, Json>()

  function replace(json: Json, itself?: string): Json {
    if (json === null || typeof json !== 'object') return json
    if (Array.isArray(json)) return json.map((entry) => replace(entry))
    const name = nameOf.get(JSON.stringify(json))
    if (name && name !== itself) {
      if (!used.has(name)) {
        used.set(name, {})
        used.set(name, replace(json, name))
      }
      return reference(name)
    }
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replace(value)]))
  }

  return {
    // Converted through JSON, which omits the symbol properties that TypeBox adds to a schema.
    emit: (schema) => replace(jsonOf(schema) ?? {}),
    ref: (name) => {
      used.set(name, errorSchemas[name])
      return reference(name)
    },
    collected: () => Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}
