import { readFileSync } from 'node:fs'
import { LogError } from '@atrium/log/log-error'
import { parsePolicy, type Policy } from '@atrium/log/policy'
import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'

/** Reads the file with the witnesses of the transparency log (C2SP tlog-policy). Without one, nobody cosigns. */
export function readLogPolicy({ logPolicy: path }: Pick<Env, 'logPolicy'>): Policy {
  if (path === undefined) return parsePolicy('quorum none\n')
  const policy = readPolicy(path)
  const unreachable = policy.witnesses.find(({ url }) => url === undefined || !isHttp(url))
  if (unreachable) throw new StartError(`ATRIUM_LOG_POLICY: the witness ${unreachable.name} has no address (http or https)`)
  return policy
}

function readPolicy(path: string): Policy {
  try {
    return parsePolicy(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof LogError) throw new StartError(`ATRIUM_LOG_POLICY: ${error.message}`)
    throw new StartError(`ATRIUM_LOG_POLICY: ${path} cannot be read`)
  }
}

const isHttp = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
