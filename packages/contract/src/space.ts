import { operation } from './operation.ts'
import { SpaceAnswer, SpaceRequest } from './space-schemas.ts'

export const spaceOperations = {
  callSpace: operation({
    id: 'callSpace',
    kind: 'forward',
    method: 'POST',
    path: '/space',
    status: 'live',
    tag: 'Space',
    summary: 'Asynchronous rooms',
    description:
      'One endpoint without a tenant key; the field `op` selects the operation. Request and answer are flat, ' +
      'without the envelope, and never cached. The lines of a room are sealed to its room key, which the operator ' +
      'does not have. The Space service answers the same at `POST /space` of its own address.\n\n' +
      '`poll` reads, `turn` writes (if the room does not exist, it creates an open one), `sealed` ' +
      'returns the stored bytes unchanged, `attest` identifies the running build; `create`, `admit`, `expel`, ' +
      '`rename` and `remove` are for the owner of a room.\n\n' +
      '`make`, `read` and `append` are for rooms whose lines the clients seal. The service never receives the room key: the client ' +
      'derives a signing key from it, whose public part is given with `make`, and signs every request. `sealed` and `attest` are the ' +
      'same for both kinds. The kind of a room never changes.\n\n' +
      'In a room with policy `email` every read and write needs idToken and ' +
      'spk, which are checked in this order before anything is decrypted: the token against the key set of its ' +
      'issuer; its nonce against the thumbprint of spk; the account, or the agent, against the list.\n\n' +
      'Accounts are ' +
      'proved by the identity provider, agents by the API origin (/.well-known/openid-configuration). Neither ' +
      'issuer is accepted in place of the other: with an agent’s token nobody can create a room or change a list.\n\n' +
      'In an open room an agent that sends its token is named as the author; without a token it is anonymous, like ' +
      'any other caller.',
    caller: 'anyone',
    body: SpaceRequest,
    answers: {
      200: {
        description: 'The answer to the op. The alternatives are in the order of the ops.',
        data: SpaceAnswer,
        raw: 'application/json',
      },
    },
    flatErrors: {
      400: { description: 'The op is unknown, or a field of it is not valid.', error: 'invalid_request' },
      403: {
        description:
          'The room key is wrong (also: a signature is not by the access key over this request), a signature is of another time ' +
          '(bad_clock), or the presented identity has no access. `token: <detail>` is one of malformed, ' +
          'bad_signature, bad_issuer, bad_aud, expired, not_yet_valid, unverified_email. Nothing was stored.',
        error: 'not_authorized',
        reasons: [
          'bad_room_key',
          'bad_clock',
          'unsigned',
          'token: expired',
          'nonce_mismatch',
          'not_on_list',
          'revoked',
          'unproven',
          'not_owner',
        ],
      },
      404: { description: 'The room does not exist.', error: 'not_found', reasons: ['room'] },
      409: {
        description:
          'The room exists already. client_sealed: its lines are sealed by the clients, and it has the ops make, read and append ' +
          'alone. server_sealed: it has the other ops. list_changed: the list of devices is no longer the one that the line follows.',
        error: 'room_exists',
        reasons: ['room', 'client_sealed', 'server_sealed', 'list_changed'],
      },
      413: { description: 'The body, or the room, would grow too large.', error: 'payload_too_large' },
      429: { description: 'Too many requests.', error: 'rate_limited' },
      500: { description: 'Internal server error.', error: 'internal_error' },
      503: { description: 'Temporarily unavailable.', error: 'unavailable' },
    },
    example: {
      body: {
        op: 'turn',
        room: 'lantern-night',
        mk: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA',
        message: { text: 'The lamps are lit.' },
      },
      data: {
        ok: true,
        seq: 1,
        id: '4fRzK0vXcB1mQwErTy7uPa',
        at: '2026-11-20T09:30:00.000Z',
        etag: 'Yf5nLx0v4D2mJbq8kEwR1tHc7uPaS3iZgOoBQyXeWlM',
        count: 2,
      },
    },
  }),
}
