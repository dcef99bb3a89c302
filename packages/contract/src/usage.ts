import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, credits, oneOf } from './schemas.ts'

/** What is counted. */
export const meters = ['requests', 'items', 'paints', 'launches', 'credits', 'bytes'] as const

export type Meter = (typeof meters)[number]

const date = Type.String({ format: 'date' })

export const UsageRow = Type.Object({
  period: Type.String({ description: 'The day (2026-11-20) or month (2026-11), UTC.' }),
  meter: oneOf([...meters]),
  quantity: Type.Integer({ minimum: 0 }),
})

export const usageOperations = {
  getUsage: operation({
    id: 'getUsage',
    kind: 'read',
    method: 'GET',
    path: '/usage',
    status: 'live',
    tag: 'Usage',
    summary: 'What was used',
    description:
      'One row a period and meter, oldest first, in a period by meter in the order of the enum; what is zero is left out. Days are UTC; ' +
      '`from` and `to` are both included, at most 366 days apart, and not before 2000. Default: the last 30 days, up to today or up to `to`. ' +
      '`requests`: calls with a key of this tenant that were answered, with an error too. `items`: items added. `bytes`: of the bodies of ' +
      'those calls and of their answers, without headers, and of the media of this tenant that were sent to anyone. `paints`: made, counted when the picture is ready. `launches`: started. `credits`: what was captured, and fees, from the ' +
      'ledger: exact at any time. The others are counted in memory and written down every few seconds: the counts of the last 5 seconds ' +
      'may be missing, and are lost if the server is killed (all since its database went away, if it did). Nothing is counted twice.',
    caller: 'secret',
    query: closed({
      from: Type.Optional(date),
      to: Type.Optional(date),
      by: Type.Optional(oneOf(['day', 'month'], { default: 'day' })),
    }),
    answers: { 200: { description: 'The rows.', data: Type.Array(UsageRow) } },
    example: { data: [{ period: '2026-11-20', meter: 'items', quantity: 12 }] },
  }),
  getEarnings: operation({
    id: 'getEarnings',
    kind: 'read',
    method: 'GET',
    path: '/earnings',
    status: 'proposed',
    tag: 'Usage',
    summary: 'What was earned',
    description: 'Not built and not routed: what the agents of this tenant earned, a row a month.',
    caller: 'secret',
    answers: { 200: { description: 'The rows.', data: Type.Array(Type.Object({ period: Type.String(), credits: credits() })) } },
    example: { data: [{ period: '2026-11', credits: 155 }] },
  }),
}
