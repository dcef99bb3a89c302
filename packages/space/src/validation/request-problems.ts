// Written by scripts/space-validators.ts out of packages/contract/src/space-schemas.ts.
import {
  findBooleanProblem,
  findChoiceProblem,
  findIntegerProblem,
  findNameProblem,
  findTextProblem,
  findTextsProblem,
  isFields,
  type Fields,
  type Problem,
  type TextRule,
} from './find-problem.ts'

const roomRule: TextRule = { pattern: /^[A-Za-z0-9_-]{1,128}$/u }
const mkRule: TextRule = { minLength: 22, maxLength: 512, pattern: /^[!-~]+$/u }
const sinceEtagRule: TextRule = { maxLength: 128 }
const proofRule: TextRule = { maxLength: 4096 }
const textRule: TextRule = { minLength: 1, maxLength: 16384 }
const replyToRule: TextRule = { minLength: 1, maxLength: 100 }
const clientIdRule: TextRule = { minLength: 1, maxLength: 100 }
const nameRule: TextRule = { minLength: 1, maxLength: 60 }
const nonceRule: TextRule = { minLength: 1, maxLength: 200 }
const allowRule: TextRule = { maxLength: 254, format: 'email' }
const agentsRule: TextRule = { pattern: /^agt_[0-9A-Za-z]{22}$/u }
const titleRule: TextRule = { minLength: 1, maxLength: 200 }
const emailsRule: TextRule = { maxLength: 254, format: 'email' }
const accessRule: TextRule = { pattern: /^[A-Za-z0-9_-]{43}$/u }
const lineRule: TextRule = {
  pattern:
    /^\{"protected":"[A-Za-z0-9_-]+",("encrypted_key":"[A-Za-z0-9_-]+",|"recipients":\[[A-Za-z0-9_+{}":,-]+\],)?"iv":"[A-Za-z0-9_-]{16}","ciphertext":"[A-Za-z0-9_-]+","tag":"[A-Za-z0-9_-]{22}"\}$/u,
}
const signatureRule: TextRule = { maxLength: 1024 }
const dedupeRule: TextRule = { pattern: /^[A-Za-z0-9_-]{22,86}$/u }

export function findPollProblem(fields: Fields): Problem {
  const { op, room, mk, sinceEtag, sinceCount, waitMs, limit, proof } = fields
  const optional = ['sinceEtag', 'sinceCount', 'waitMs', 'limit', 'idToken', 'spk', 'proof']
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk'], optional) ??
    findChoiceProblem(op, '/op', ['poll']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findTextProblem(sinceEtag, '/sinceEtag', sinceEtagRule) ??
    findIntegerProblem(sinceCount, '/sinceCount', 0) ??
    findIntegerProblem(waitMs, '/waitMs', 0, 25000) ??
    findIntegerProblem(limit, '/limit', 1, 500) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

function findMessageProblem(fields: unknown, path: string): Problem {
  if (fields === undefined) return undefined
  if (!isFields(fields)) return `${path} must be object`
  const { text, reply_to, client_id } = fields
  return (
    findNameProblem(fields, path, ['text'], ['reply_to', 'client_id']) ??
    findTextProblem(text, `${path}/text`, textRule) ??
    findTextProblem(reply_to, `${path}/reply_to`, replyToRule) ??
    findTextProblem(client_id, `${path}/client_id`, clientIdRule)
  )
}

export function findTurnProblem(fields: Fields): Problem {
  const { op, room, mk, message, name, proof } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk', 'message'], ['name', 'idToken', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['turn']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findMessageProblem(message, '/message') ??
    findTextProblem(name, '/name', nameRule) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findSealedProblem(fields: Fields): Problem {
  const { op, room } = fields
  return (
    findNameProblem(fields, '', ['op', 'room'], []) ??
    findChoiceProblem(op, '/op', ['sealed']) ??
    findTextProblem(room, '/room', roomRule)
  )
}

export function findAttestProblem(fields: Fields): Problem {
  const { op, nonce } = fields
  return (
    findNameProblem(fields, '', ['op'], ['nonce']) ??
    findChoiceProblem(op, '/op', ['attest']) ??
    findTextProblem(nonce, '/nonce', nonceRule)
  )
}

export function findCreateProblem(fields: Fields): Problem {
  const { op, room, mk, policy, allow, agents, title, require_proof, proof } = fields
  const optional = ['allow', 'agents', 'title', 'require_proof', 'idToken', 'spk', 'proof']
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk', 'policy'], optional) ??
    findChoiceProblem(op, '/op', ['create']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findChoiceProblem(policy, '/policy', ['open', 'email']) ??
    findTextsProblem(allow, '/allow', 1000, allowRule) ??
    findTextsProblem(agents, '/agents', 100, agentsRule) ??
    findTextProblem(title, '/title', titleRule) ??
    findBooleanProblem(require_proof, '/require_proof') ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findAdmitProblem(fields: Fields): Problem {
  const { op, room, mk, emails, agents, proof } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk'], ['emails', 'agents', 'idToken', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['admit']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findTextsProblem(emails, '/emails', 1000, emailsRule) ??
    findTextsProblem(agents, '/agents', 100, agentsRule) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findExpelProblem(fields: Fields): Problem {
  const { op, room, mk, emails, agents, proof } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk'], ['emails', 'agents', 'idToken', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['expel']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findTextsProblem(emails, '/emails', 1000, emailsRule) ??
    findTextsProblem(agents, '/agents', 100, agentsRule) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findRenameProblem(fields: Fields): Problem {
  const { op, room, mk, title, proof } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk', 'title'], ['idToken', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['rename']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findTextProblem(title, '/title', titleRule) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findRemoveProblem(fields: Fields): Problem {
  const { op, room, mk, proof } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'mk'], ['idToken', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['remove']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(mk, '/mk', mkRule) ??
    findTextProblem(proof, '/proof', proofRule)
  )
}

export function findMakeProblem(fields: Fields): Problem {
  const { op, room, access, line, proof, signature } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'access', 'line', 'signature'], ['spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['make']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(access, '/access', accessRule) ??
    findTextProblem(line, '/line', lineRule) ??
    findTextProblem(proof, '/proof', proofRule) ??
    findTextProblem(signature, '/signature', signatureRule)
  )
}

export function findReadProblem(fields: Fields): Problem {
  const { op, room, sinceEtag, sinceCount, waitMs, limit, proof, signature } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'signature'], ['sinceEtag', 'sinceCount', 'waitMs', 'limit', 'spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['read']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(sinceEtag, '/sinceEtag', sinceEtagRule) ??
    findIntegerProblem(sinceCount, '/sinceCount', 0) ??
    findIntegerProblem(waitMs, '/waitMs', 0, 25000) ??
    findIntegerProblem(limit, '/limit', 1, 500) ??
    findTextProblem(proof, '/proof', proofRule) ??
    findTextProblem(signature, '/signature', signatureRule)
  )
}

export function findAppendProblem(fields: Fields): Problem {
  const { op, room, line, dedupe, proof, signature } = fields
  return (
    findNameProblem(fields, '', ['op', 'room', 'line', 'dedupe', 'signature'], ['spk', 'proof']) ??
    findChoiceProblem(op, '/op', ['append']) ??
    findTextProblem(room, '/room', roomRule) ??
    findTextProblem(line, '/line', lineRule) ??
    findTextProblem(dedupe, '/dedupe', dedupeRule) ??
    findTextProblem(proof, '/proof', proofRule) ??
    findTextProblem(signature, '/signature', signatureRule)
  )
}
