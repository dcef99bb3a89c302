import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FoundCredential, findCredentials, maskCredentials } from '@atrium/contract/find-credentials'

/** Larger files are not read: keys are in source, settings and logs that people look at. */
const maxFileBytes = 10 * 1024 * 1024

/** Git uses the same rule: a NUL byte near the start makes a file binary. */
const binaryProbeBytes = 8_000

export interface Leak extends FoundCredential {
  path: string
}

export interface Scan {
  leaks: Leak[]
  filesRead: number
  binaryFiles: number
  largeFiles: number
  /** What could not be read, with the reason. */
  unreadable: { path: string; reason: string }[]
}

/**
 * Scans a file, or a folder with all below it. Symbolic links are not followed, and only regular files are opened.
 * A file or folder that cannot be read is in `unreadable`, and the scan goes on.
 */
export async function scanPath(root: string): Promise<Scan> {
  const scan: Scan = { leaks: [], filesRead: 0, binaryFiles: 0, largeFiles: 0, unreadable: [] }
  const waiting = [root]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const stat = await lstat(path)
      if (stat.isDirectory()) {
        const names = await readdir(path)
        // Reversed, because the last one is taken first. A spread of very many names would overflow the stack.
        for (const name of names.toSorted().toReversed()) waiting.push(join(path, name))
      } else if (stat.isFile()) {
        await scanFile(path, scan)
      } else if (path === root) {
        scan.unreadable.push({ path, reason: 'not a file or a folder' })
      }
    } catch (error) {
      scan.unreadable.push({ path, reason: (error as NodeJS.ErrnoException).code ?? String(error) })
    }
  }
  return scan
}

async function scanFile(path: string, scan: Scan): Promise<void> {
  // The path may have become a link or a pipe since it was listed: the flags refuse the first and do not wait for the
  // second.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return
    if (stat.size > maxFileBytes) {
      scan.largeFiles++
      return
    }
    // One byte more than the file had, so that a file that grows meanwhile cannot fill the memory.
    const buffer = Buffer.alloc(stat.size + 1)
    let size = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, size)
      size += bytesRead
      if (bytesRead === 0 || size === buffer.length) break
    }
    const bytes = buffer.subarray(0, size)
    if (bytes.subarray(0, binaryProbeBytes).includes(0)) {
      scan.binaryFiles++
      return
    }
    scan.filesRead++
    // Latin-1 decodes any bytes, and leaves the ASCII of a credential as it is.
    for (const leak of findCredentials(bytes.toString('latin1'))) scan.leaks.push({ path, ...leak })
  } finally {
    await file.close()
  }
}

/** A name without characters that could change what a terminal shows, and without the credentials that are in it. */
export function plainPath(path: string): string {
  return maskCredentials(path.toWellFormed()).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, '?')
}
