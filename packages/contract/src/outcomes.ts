import { Type } from './type.ts'
import { operation } from './operation.ts'
import { anyJson, closed, oneOf, Timestamp } from './schemas.ts'

export const outcomeOperations = {
  lookUpOutcome: operation({
    id: 'lookUpOutcome',
    kind: 'read',
    method: 'POST',
    path: '/outcomes/lookup',
    status: 'live',
    tag: 'Tenants',
    summary: 'Ask what became of a request',
    description:
      'For a caller that has lost an answer, or has crashed: returns the stored answer of a request with an ' +
      'Idempotency-Key, without sending the request again. It needs the same kind of key as that request and, where ' +
      'its operation takes one, the same X-Collection-Token.\n\n' +
      '`none`: there is no record. The request never arrived, failed, has expired, or still runs in another process ' +
      'that has written nothing. A repeat with the same Idempotency-Key is safe in each of these cases; one with ' +
      'another key is not. `in_progress`: it runs. `done`: `status`, `answer` (its whole body, absent if it had ' +
      'none) and `expires_at`, until when the answer is kept.\n\n' +
      'With the hash of another body the answer is `none`, as if there were no record: a caller that has only the key learns ' +
      'nothing. The query is not compared. Requests of operators, of sessions and without a key are repeated instead.',
    caller: 'publishable',
    body: closed({
      idempotency_key: Type.String({ pattern: '^[\\x20-\\x7e]{1,255}$', description: 'The header of the request.' }),
      operation: Type.String({ minLength: 1, maxLength: 64, description: 'The operationId, such as launchSession.' }),
      path: Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'The path of the request from the origin on, without its query, such as /v1/sessions.',
      }),
      body_sha256: Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 of the bytes of its body, in lower-case hex; of no bytes if its operation takes no body.',
      }),
    }),
    answers: {
      200: {
        description: 'What is known of the request.',
        data: Type.Object({
          state: oneOf(['none', 'in_progress', 'done']),
          status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299 })),
          answer: Type.Optional(anyJson('The body of the stored answer, with `data` and `meta`.')),
          expires_at: Type.Optional(Timestamp),
        }),
        oneTimeSecret: true,
      },
    },
    errors: ['not_found', 'secret_key_required', 'issuer_role_required', 'owner_token_required', 'contributor_token_required'],
    example: {
      body: {
        idempotency_key: '5f0c1a52-6a1e-4b9e-9d3f-0c8f6f2f7a11',
        operation: 'createCollection',
        path: '/v1/collections',
        body_sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      },
      data: {
        state: 'done',
        status: 201,
        answer: { data: { id: 'col_4fRzK0vXcB1mQwErTy7uPa', state: 'open' } },
        expires_at: '2026-11-21T09:30:00.000Z',
      },
    },
  }),
}
