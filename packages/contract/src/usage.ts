import { Type } from './type.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, credits, oneOf } from './schemas.ts'

/** The usage meters. */
export const meters = ['requests', 'items', 'paints', 'launches', 'credits', 'bytes'] as const

export type Meter = (typeof meters)[number]

const date = Type.String({ format: 'date' })

export const UsageRow = Type.Object({
  period: Type.String({ description: 'The day (2026-11-20) or month (2026-11), UTC.' }),
  meter: oneOf([...meters]),
  quantity: Type.Integer({ minimum: 0 }),
})

export const usageQuery = closed({
  from: Type.Optional(date),
  to: Type.Optional(date),
  by: Type.Optional(oneOf(['day', 'month'], { default: 'day' })),
})

export const usageOperations = {
  getUsage: operation({
    id: 'getUsage',
    kind: 'read',
    method: 'GET',
    path: '/usage',
    status: 'live',
    tag: 'Usage',
    summary: 'Read the usage',
    description:
      'One row per period and meter: oldest period first, then meters in the order of the enum. Rows of zero are ' +
      'omitted.\n\n' +
      'Days are UTC; `from` and `to` are both included, at most 366 days apart, and not before 2000. ' +
      'Default: the last 30 days, up to today or up to `to`.\n\n' +
      '- `requests`: answered calls with a key of this tenant, ' +
      'including errors.\n' +
      '- `items`: items added.\n' +
      '- `bytes`: the bodies of those calls and of their answers, without ' +
      'headers, and the media of this tenant that were served to anyone.\n' +
      '- `paints`: paintings, counted when the ' +
      'picture is ready.\n' +
      '- `launches`: started sessions.\n' +
      '- `credits`: captures and fees, from the ledger and therefore ' +
      'always exact.\n\n' +
      '`items`, `paints` and `launches` are stored together with what they count, so they are always exact. `requests` ' +
      'and `bytes` are counted in memory and stored once a minute: those of the last minute may be missing, and are ' +
      'lost if the server is killed (during a database outage: all since it began). Nothing is counted twice.',
    caller: 'secret',
    roles: everyMember,
    query: usageQuery,
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
    summary: 'Read the earnings',
    description: 'Not built and not routed: what the agents of this tenant earned, a row a month.',
    caller: 'secret',
    answers: { 200: { description: 'The rows.', data: Type.Array(Type.Object({ period: Type.String(), credits: credits() })) } },
    example: { data: [{ period: '2026-11', credits: 155 }] },
  }),
}
