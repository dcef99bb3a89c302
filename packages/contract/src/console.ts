import { Type } from './type.ts'
import { operation } from './operation.ts'
import { closed, id, nullable, oneOf, Timestamp } from './schemas.ts'

const tenantId = 'ten_4fRzK0vXcB1mQwErTy7uPa'

export const consoleOperations = {
  createConsoleLink: operation({
    id: 'createConsoleLink',
    kind: 'write',
    method: 'POST',
    path: '/operator/console-links',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Create a one-time link to the console',
    description:
      'Operator only. The link signs in once, within 10 minutes: with `tenant_id` as an owner of that tenant, without ' +
      'it as an operator. Its secret is in the fragment, which browsers do not send; only the hash is stored.',
    caller: 'operator',
    idempotency: 'accepted',
    body: closed({
      kind: oneOf(['tenant', 'operator']),
      tenant_id: Type.Optional(id('tenant', 'Required for the kind `tenant`.')),
    }),
    answers: {
      201: {
        description: 'The link, once.',
        data: Type.Object({
          kind: oneOf(['tenant', 'operator']),
          tenant_id: nullable(id('tenant')),
          url: Type.String(),
          expires_at: Timestamp,
        }),
        oneTimeSecret: true,
      },
    },
    errors: ['not_found'],
    example: {
      body: { kind: 'tenant', tenant_id: tenantId },
      data: {
        kind: 'tenant',
        tenant_id: tenantId,
        url: 'https://atrium.example/console#link=clk_…',
        expires_at: '2026-11-20T09:40:00.000Z',
      },
    },
  }),
}
