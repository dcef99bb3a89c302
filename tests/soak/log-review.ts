export interface Disturbance {
  at: number
  what: 'database' | 'worker'
}

/** Errors that the planned outages of the database explain. */
const databaseGone =
  /57P0[123]|08\d{3}|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|Connection terminated|did not answer in time|did not accept the connection|not queryable|connection.*(lost|closed|refused)|timeout|terminating|starting up|shutting down|recovery|unavailable|PostgreSQL|\b50[23]\b/i
/** Refusals of an overloaded machine, with Retry-After. */
const underPressure = /"type":"Overloaded"|No answer within \d+ ms|aborted due to timeout/
/** Lines about a killed worker and its successor. */
const workerGone = /SIGKILL|worker|restart|ended|exit|took over|lease/i
/** How long after it a disturbance may be felt. */
const feltMs = 60_000

/** Lines of level error or above that neither a planned outage nor the load explains. */
export function findUnexplained(output: string, disturbances: Disturbance[]): string[] {
  return output.split('\n').filter((line) => {
    const { level, time } = readLine(line)
    if (level < 50 || underPressure.test(line)) return false
    const near = disturbances.filter(({ at }) => time >= at - 2_000 && time <= at + feltMs)
    return !near.some(({ what }) => (what === 'database' ? databaseGone : workerGone).test(line))
  })
}

function readLine(line: string): { level: number; time: number } {
  try {
    const { level, time } = JSON.parse(line) as { level: number | string; time: string | number }
    return { level: typeof level === 'number' ? level : level === 'error' ? 50 : 0, time: new Date(time).getTime() }
  } catch {
    return { level: 0, time: 0 }
  }
}
