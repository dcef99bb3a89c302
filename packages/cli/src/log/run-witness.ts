import { witnessVerifier } from '@atrium/log/signing'
import type { AddressInfo } from 'node:net'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LogError } from '@atrium/log/log-error'
import { formatVerifier } from '@atrium/log/note'
import { parsePolicy, type Policy } from '@atrium/log/policy'
import { OperatorError } from '../operator-api.ts'
import { runUntilStopped } from '../run-until-stopped.ts'
import { lockFile } from './lock-file.ts'
import { createWitnessServer } from './witness-server.ts'
import { openWitnessKey, WitnessState } from './witness-state.ts'

/** Reads a policy file (C2SP tlog-policy). */
export function readPolicyFile(path: string): Policy {
  try {
    return parsePolicy(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new OperatorError(error instanceof LogError ? `${path}: ${error.message}` : `${path} cannot be read`)
  }
}

interface Options {
  name: string
  policy: string
  data: string
  host: string
  port: number
}

/** Runs a witness until it is stopped. */
export async function runWitness({ name, policy, data, host, port }: Options): Promise<void> {
  const logKeys = readPolicyFile(policy).logs.map(({ verifier }) => verifier)
  if (logKeys.length === 0) throw new OperatorError(`${policy} has no line "log", so there is nothing to cosign`)
  makeFolder(data)
  // Two witnesses with one key would each compare with what they cosigned themselves, and together cosign a fork.
  await lockFile(join(data, 'witness-state.json'))
  const seed = await openWitnessKey(data)
  const state = await WitnessState.open(data)
  const vkey = formatVerifier(nameOf(name, seed))
  await runUntilStopped(async () => {
    const server = createWitnessServer({ name, seed, state, logKeys, onRefusal: (line) => console.error(line) })
    await new Promise<void>((resolve, reject) => {
      server.once('error', () => reject(new OperatorError(`cannot listen on ${host}:${port}`)))
      server.listen(port, host, resolve)
    })
    const { port: listening } = server.address() as AddressInfo
    console.log(`witness ${name} ${vkey} http://${host}:${listening}`)
    return { stop: () => new Promise((resolve) => server.close(() => resolve())) }
  })
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new OperatorError(`${path} cannot be made: ${(error as Error).message}`)
  }
}

function nameOf(name: string, seed: Uint8Array) {
  try {
    return witnessVerifier(name, seed)
  } catch (error) {
    throw error instanceof LogError ? new OperatorError(error.message) : error
  }
}
