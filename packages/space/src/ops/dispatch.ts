import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { append } from './append.ts'
import { admit, expel } from './change-list.ts'
import { create } from './create.ts'
import { make } from './make.ts'
import { poll } from './poll.ts'
import { read } from './read.ts'
import { remove } from './remove.ts'
import { rename } from './rename.ts'
import type { AttestRequest } from './request.ts'
import { sealed } from './sealed.ts'
import { turn } from './turn.ts'
import { type Fields, isFields, type Problem } from '../validation/find-problem.ts'
import {
  findAdmitProblem,
  findAppendProblem,
  findAttestProblem,
  findCreateProblem,
  findExpelProblem,
  findMakeProblem,
  findPollProblem,
  findReadProblem,
  findRemoveProblem,
  findRenameProblem,
  findSealedProblem,
  findTurnProblem,
} from '../validation/request-problems.ts'

type Run = (ctx: SpaceContext, request: never, caller: Caller) => object | Promise<object>

interface Op {
  findProblem: (fields: Fields) => Problem
  run: Run
}

const ops: Record<string, Op> = {
  poll: { findProblem: findPollProblem, run: poll },
  turn: { findProblem: findTurnProblem, run: turn },
  sealed: { findProblem: findSealedProblem, run: sealed },
  attest: { findProblem: findAttestProblem, run: (ctx: SpaceContext, { nonce }: AttestRequest) => ctx.certificate.attest(nonce) },
  create: { findProblem: findCreateProblem, run: create },
  admit: { findProblem: findAdmitProblem, run: admit },
  expel: { findProblem: findExpelProblem, run: expel },
  rename: { findProblem: findRenameProblem, run: rename },
  remove: { findProblem: findRemoveProblem, run: remove },
  make: { findProblem: findMakeProblem, run: make },
  read: { findProblem: findReadProblem, run: read },
  append: { findProblem: findAppendProblem, run: append },
}

/** The op that a request names; undefined: it does not exist. */
export function opOf(request: unknown): string | undefined {
  const name = isFields(request) ? request.op : undefined
  return typeof name === 'string' && Object.hasOwn(ops, name) ? name : undefined
}

/** Runs the op that the request names. Throws SpaceError for every refusal. */
export async function dispatch(ctx: SpaceContext, request: unknown, caller: Caller): Promise<object> {
  if (!isFields(request)) throw new SpaceError('invalid_request', 'the body must be an object')
  const name = opOf(request)
  const found = name === undefined ? undefined : ops[name]
  if (!found) throw new SpaceError('invalid_request', `op must be one of ${Object.keys(ops).join(', ')}`)
  const problem = found.findProblem(request)
  if (problem !== undefined) throw new SpaceError('invalid_request', problem)
  if (ctx.restore.exists && name !== 'attest') throw new SpaceError('unavailable', 'restore_unconfirmed', 60)
  return found.run(ctx, request as never, caller)
}
