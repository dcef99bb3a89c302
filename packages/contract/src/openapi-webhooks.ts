import { Event, eventExample } from './events.ts'
import { eventSpecs, eventTypes, type EventType } from './event-types.ts'
import type { Json, JsonObject, SchemaCollector } from './openapi-schemas.ts'

/** What every delivery bears besides its body (Standard Webhooks). */
export const webhookParameters: JsonObject = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: "The event's id: the same with every try, so that a repeat can be told.",
    schema: { type: 'string' },
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When this try was sent, in seconds since 1970. Refuse what is more than five minutes off.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` and the base64 of the HMAC-SHA-256 of `{webhook-id}.{webhook-timestamp}.{body}` under the secret; while secrets rotate, one for ' +
      'each, with a space between.',
    schema: { type: 'string' },
  },
}

/** The requests that the platform sends, by event type. */
export function webhooksOf(schemas: SchemaCollector): JsonObject {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: deliveryOf(type, schemas) }]))
}

function deliveryOf(type: EventType, schemas: SchemaCollector): JsonObject {
  const { summary, description, data, example } = eventSpecs[type]
  const typed: JsonObject = {
    type: 'object',
    properties: { type: { type: 'string', const: type }, data: schemas.emit(data) },
  }
  return {
    operationId: `on.${type}`,
    tags: ['Webhooks'],
    summary,
    description,
    security: [],
    parameters: Object.keys(webhookParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { allOf: [schemas.emit(Event), typed] },
          example: { ...eventExample, type, data: example } as unknown as Json,
        },
      },
    },
    responses: {
      '2XX': {
        description:
          'Taken. The body is not read. Any other status, a redirect included, and none within 15 seconds: tried again.',
      },
      '410': { description: 'Nothing more is wanted: the webhook is disabled.' },
    },
  }
}
