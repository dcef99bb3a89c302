import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'

const keptLogBytes = 16 * 1024 * 1024
/** The reason for an end is among the last lines. */
const readBytes = 64 * 1024

/** Rotates a large log, keeping one older file, and returns the current length. */
export function turnLog(logFile: string): number {
  const bytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= keptLogBytes) return bytes
  renameSync(logFile, `${logFile}.old`)
  return 0
}

/** The last error in what was logged after this byte, or the last line; undefined if the log cannot be read. */
export function lastComplaint(logFile: string, fromByte: number): string | undefined {
  const lines = readEnd(logFile, fromByte).split('\n')
  const complaint = lines.findLast((line) => /(FATAL|PANIC|ERROR|error while loading)/.test(line))
  return (complaint ?? lines.findLast((line) => line !== ''))?.replace(/^.*?(FATAL|PANIC|ERROR): +/, '')
}

function readEnd(logFile: string, fromByte: number): string {
  let file: number | undefined
  try {
    file = openSync(logFile, 'r')
    const bytes = Buffer.alloc(readBytes)
    const start = Math.max(fromByte, fstatSync(file).size - readBytes)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, readBytes, start))
  } catch {
    // Removed or renamed, as by logrotate. The reason is only reported; PostgreSQL is restarted without it.
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
