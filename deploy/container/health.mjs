// The health check of the image: exit code 0 if the role that this container runs answers. It only uses the loopback address.
// health.mjs [ROLE [--no-space]]; without a role, the words of the container's first process.
import { readFileSync } from 'node:fs'

const roles = new Set(['start', 'api', 'worker', 'space', 'migrate'])
const given = process.argv.slice(2)
const words = given.length > 0 ? given : readFileSync('/proc/1/cmdline', 'utf8').split('\0')
const role = words.find((word) => roles.has(word))

const api = `http://127.0.0.1:${process.env.PORT || 8787}/readyz`
const space = `http://127.0.0.1:${process.env.SPACE_PORT || 8788}/cert.json`
// The worker serves metrics at most. A migration serves nobody: that the container runs is all there is to see.
const metricsPort = process.env.ATRIUM_METRICS_PORT
const worker = metricsPort ? [`http://127.0.0.1:${metricsPort}/metrics`] : []
const urls = { api: [api], start: words.includes('--no-space') ? [api] : [api, space], space: [space], worker }[role] ?? []

const answers = await Promise.allSettled(urls.map((url) => fetch(url, { signal: AbortSignal.timeout(4_000) })))
for (const [at, answer] of answers.entries()) {
  const problem = problemOf(answer)
  if (problem === undefined) continue
  console.error(`${urls[at]}: ${problem}`)
  process.exitCode = 1
}

function problemOf({ status, reason, value }) {
  if (status === 'rejected') return reason.message
  // With ATRIUM_METRICS_TOKEN the worker refuses this request: it answers.
  return value.ok || (role === 'worker' && value.status === 401) ? undefined : value.status
}
