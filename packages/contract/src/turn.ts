import { Type } from './type.ts'
import { operation } from './operation.ts'
import { Timestamp } from './schemas.ts'

export const turnOperations = {
  getTurnCredentials: operation({
    id: 'getTurnCredentials',
    kind: 'read',
    method: 'GET',
    path: '/turn',
    status: 'live',
    tag: 'Infra',
    summary: 'Ephemeral relay credentials',
    description:
      'In the format of RTCPeerConnection. They allocate relays for an hour; an allocated relay continues after ' +
      "that. coturn's REST scheme: the username is `expiry:tenant`, the credential its HMAC-SHA1, in base64, under " +
      'the secret shared with the relay. 503 `unavailable` if no relay is configured.',
    caller: 'publishable',
    answers: {
      200: {
        description: 'The relays and their credentials.',
        data: Type.Object({
          iceServers: Type.Array(
            Type.Object({ urls: Type.Array(Type.String()), username: Type.String(), credential: Type.String() }),
          ),
          ttl: Type.Integer({ description: 'Seconds.' }),
          expires_at: Timestamp,
        }),
        oneTimeSecret: true,
      },
    },
    example: {
      data: {
        iceServers: [
          {
            urls: ['turn:turn.harbour.example:3478?transport=udp', 'turns:turn.harbour.example:5349?transport=tcp'],
            username: '1795167000:ten_4fRzK0vXcB1mQwErTy7uPa',
            credential: 'dRuBi1VXo9J5q8fdhB0SFbeXFd4=',
          },
        ],
        ttl: 3_600,
        expires_at: '2026-11-20T09:30:00.000Z',
      },
    },
  }),
}
