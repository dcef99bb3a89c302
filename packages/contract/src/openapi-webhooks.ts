import { Event, eventExample } from './events.ts'
import { eventSpecs, eventTypes, type EventType } from './event-types.ts'
import { type JsonObject, type SchemaCollector, jsonOf } from './openapi-schemas.ts'

/** The headers of every delivery (Standard Webhooks). */
export const webhookParameters: JsonObject = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: "The event's id. It is the same for every attempt, so that the receiver can detect a repeat.",
    schema: { type: 'string' },
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'Time of this attempt, in seconds since 1970-01-01 UTC. Reject a request that is more than five minutes off.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` and the base64 of the HMAC-SHA-256 of `{webhook-id}.{webhook-timestamp}.{body}` under the secret. ' +
      'During a rotation there is one signature for each secret, separated by spaces.',
    schema: { type: 'string' },
  },
}

/** The webhook requests of the platform, by event type. */
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
          example: jsonOf({ ...eventExample, type, data: example }) ?? null,
        },
      },
    },
    responses: {
      '2XX': {
        description:
          'Accepted. The body is ignored. Any other status, including a redirect, and no response within 15 ' +
          'seconds are retried.',
      },
      '410': { description: 'The endpoint wants no more events: the webhook is disabled.' },
    },
  }
}
