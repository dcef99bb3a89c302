import Type from 'typebox'
import { operation } from './operation.ts'
import { nullable, Timestamp } from './schemas.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const operatorOperations = {
  resealSecrets: operation({
    id: 'resealSecrets',
    kind: 'read',
    method: 'POST',
    path: '/operator/reseal',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Seal secrets under the new master key',
    description:
      'Operator only. Seals anew, under the first of the master keys, what is sealed under another one, for about half a minute a call: call it ' +
      'until `resealed` is 0. `keys` says what each key is still needed for: one that is not the first may go when it has no `values` and ' +
      '`answers_until` is null or has passed.',
    caller: 'operator',
    answers: {
      200: {
        description: 'What was done and what is left.',
        data: Type.Object({
          resealed: count('Values sealed anew by this call.'),
          keys: Type.Array(
            Type.Object({
              id: Type.String({
                pattern: '^[0-9a-f]{8}$',
                description: 'Which master key: the start of a hash of it, no secret.',
              }),
              configured: Type.Boolean(),
              values: count('Values that are sealed under it.'),
              answers: count(
                'Answers kept for repeated Idempotency-Keys that are sealed under it. They are not sealed anew: they expire.',
              ),
              answers_until: nullable(Timestamp),
            }),
            {
              description: 'The configured ones in their order, of which the first one seals; then others that are still needed.',
            },
          ),
        }),
      },
    },
    example: {
      data: {
        resealed: 412,
        keys: [
          { id: '5f1c09ab', configured: true, values: 1_630, answers: 12, answers_until: '2026-11-21T09:41:00.000Z' },
          { id: '92e40d17', configured: true, values: 0, answers: 37, answers_until: '2026-11-21T09:30:00.000Z' },
        ],
      },
    },
  }),
}
