import { Type } from './type.ts'
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
    summary: 'Reseal secrets under the new master key',
    description:
      'Operator only. Reseals secrets that are sealed under another master key under the first one, for about half ' +
      'a minute per call. Repeat it until `resealed` is 0. `keys` lists what each key is still needed for: a key ' +
      'that is not the first can be removed when it has no `processes` and no `values`, and `answers_until` is null or ' +
      'has passed, and 30 days (or the retention of events, if that is longer) after the last process sealed under it: ' +
      'until then, clients may have stream cursors that need it.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The progress: what was resealed and what remains.',
        data: Type.Object({
          resealed: count('Values that this call resealed.'),
          keys: Type.Array(
            Type.Object({
              id: Type.String({
                pattern: '^[0-9a-f]{8}$',
                description: 'Identifies the master key: the start of its hash, which is not secret.',
              }),
              configured: Type.Boolean(),
              values: count('Values that are sealed under this key.'),
              answers: count(
                'Stored answers of Idempotency-Keys that are sealed under this key. They are not resealed; they expire.',
              ),
              answers_until: nullable(Timestamp),
              processes: count(
                'Processes that run and seal under this key. Restart them with the new key first, then call this again.',
              ),
            }),
            {
              description: 'The configured keys in order, of which the first one seals; then other keys that are still needed.',
            },
          ),
        }),
      },
    },
    example: {
      data: {
        resealed: 412,
        keys: [
          {
            id: '5f1c09ab',
            configured: true,
            values: 1_630,
            answers: 12,
            answers_until: '2026-11-21T09:41:00.000Z',
            processes: 3,
          },
          { id: '92e40d17', configured: true, values: 0, answers: 37, answers_until: '2026-11-21T09:30:00.000Z', processes: 0 },
        ],
      },
    },
  }),
}
