import Type from 'typebox'
import { operation } from './operation.ts'
import { nullable, Timestamp } from './schemas.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const operatorOperations = {
  resealSecrets: operation({
    id: 'resealSecrets',
    method: 'POST',
    path: '/operator/reseal',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Seal secrets under the new master key',
    description:
      'Operator only. Seals anew, under the first of the master keys, what is sealed under another one: some thousand values a call, so call it ' +
      'until `resealed` is 0. An old master key may go when `remaining` is 0 and `stored_answers.until` has passed.',
    caller: 'operator',
    answers: {
      200: {
        description: 'What was done and what is left.',
        data: Type.Object({
          master_key: Type.String({
            pattern: '^[0-9a-f]{8}$',
            description: 'Which one seals: the start of a hash of it, no secret.',
          }),
          resealed: count('Values sealed anew by this call.'),
          remaining: count('Values sealed under another key, also those that none of the configured ones opens.'),
          stored_answers: Type.Object({
            remaining: count(
              'Answers kept for repeated Idempotency-Keys under another key. They are not sealed anew: they expire.',
            ),
            until: nullable(Timestamp),
          }),
        }),
      },
    },
    example: {
      data: {
        master_key: '5f1c09ab',
        resealed: 412,
        remaining: 0,
        stored_answers: { remaining: 37, until: '2026-11-21T09:30:00.000Z' },
      },
    },
  }),
}
