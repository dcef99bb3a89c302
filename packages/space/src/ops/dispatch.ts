import {
  SpaceAdmit,
  SpaceAttest,
  SpaceCreate,
  SpaceExpel,
  SpacePoll,
  SpaceRemove,
  SpaceSealed,
  SpaceTurn,
} from '@atrium/contract/space-schemas'
import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { admit, expel } from './change-list.ts'
import { create } from './create.ts'
import { poll } from './poll.ts'
import { remove } from './remove.ts'
import type { AttestRequest } from './request.ts'
import { sealed } from './sealed.ts'
import { turn } from './turn.ts'

type Run = (ctx: SpaceContext, request: never, caller: Caller) => object | Promise<object>

interface Op {
  check: (request: unknown) => void
  run: Run
}

const ops: Record<string, Op> = {
  poll: op(SpacePoll, poll),
  turn: op(SpaceTurn, turn),
  sealed: op(SpaceSealed, sealed),
  attest: op(SpaceAttest, (ctx: SpaceContext, { nonce }: AttestRequest) => ctx.certificate.attest(nonce)),
  create: op(SpaceCreate, create),
  admit: op(SpaceAdmit, admit),
  expel: op(SpaceExpel, expel),
  remove: op(SpaceRemove, remove),
}

/** Runs the op that the request names. Throws SpaceError for all that is refused. */
export async function dispatch(ctx: SpaceContext, request: unknown, caller: Caller): Promise<object> {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    throw new SpaceError('invalid_request', 'the body must be an object')
  const name: unknown = (request as { op?: unknown }).op
  const found = typeof name === 'string' && Object.hasOwn(ops, name) ? ops[name] : undefined
  if (!found) throw new SpaceError('invalid_request', `op must be one of ${Object.keys(ops).join(', ')}`)
  found.check(request)
  return found.run(ctx, request as never, caller)
}

/**
 * Any token and any device key pass here: what is wrong with them is said in the order of the contract's part 5, after the room was found,
 * and never as a fault of the request's form.
 */
function withAnyIdentity(schema: TObject): TSchema {
  const { idToken, spk } = schema.properties
  return { ...schema, properties: { ...schema.properties, ...(idToken && { idToken: {} }), ...(spk && { spk: {} }) } }
}

function op(schema: TObject, run: Run): Op {
  const validator = Compile(withAnyIdentity(schema))
  return {
    run,
    check: (request) => {
      if (validator.Check(request)) return
      const first = validator.Errors(request).find(({ keyword }) => keyword !== 'boolean')
      const names = first?.params as { additionalProperties?: string[] } | undefined
      // The value is never quoted: it may be the room key.
      throw new SpaceError(
        'invalid_request',
        first
          ? `${[first.instancePath, ...(names?.additionalProperties ?? [])].join(' ').trim()} ${first.message}`.trim()
          : 'not valid',
      )
    },
  }
}
