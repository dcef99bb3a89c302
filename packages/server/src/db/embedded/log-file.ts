import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { copyFile, truncate } from 'node:fs/promises'

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

/**
 * Empties the log of a running PostgreSQL when it is large, keeping one older file if there is space for that.
 * PostgreSQL holds the file open for appending, so it goes on at the new end.
 */
export async function trimLog(logFile: string, mayCopy: boolean): Promise<void> {
  const bytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= keptLogBytes) return
  // Space matters more than the copy, which may fail where space is short.
  if (mayCopy) await copyFile(logFile, `${logFile}.old`).catch(() => undefined)
  await truncate(logFile)
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
    const { size } = fstatSync(file)
    // A log that was emptied meanwhile is shorter than before.
    const start = Math.max(size < fromByte ? 0 : fromByte, size - readBytes)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, readBytes, start))
  } catch {
    // Removed or renamed, as by logrotate. The reason is only reported; PostgreSQL is restarted without it.
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
