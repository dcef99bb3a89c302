import { reportLeaks } from './report-leaks.ts'
import { type Scan, scanPath } from './scan.ts'

/**
 * Scans the path and prints what was found, never a credential itself. `report`: the installation is told, and does with
 * its keys what each tenant has chosen. Returns the exit code.
 */
export async function printScan(path: string, { report = false }: { report?: boolean | undefined } = {}): Promise<number> {
  const scan = await scanPath(path)
  const isTrue = report ? await reportLeaks(scan.leaks) : undefined
  for (const [i, { path: file, line, kind, hint }] of scan.leaks.entries()) {
    const verdict = isTrue === undefined ? '' : isTrue[i] ? ', reported' : ', not of this installation'
    console.log(`${plain(file)}:${line}: ${words(kind)} ${hint}${verdict}`)
  }
  for (const { path: file, reason } of scan.unreadable) console.error(`${plain(file)}: not read: ${reason}`)
  console.error(summary(scan))
  if (scan.leaks.length > 0) return 1
  return scan.unreadable.length > 0 ? 2 : 0
}

function summary({ leaks, filesRead, binaryFiles, largeFiles }: Scan): string {
  return `found: ${leaks.length}; files read: ${filesRead}; skipped: ${binaryFiles} binary, ${largeFiles} above 10 MiB`
}

/** `secretKey` → `secret key`. */
function words(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** A name without characters that could change what a terminal shows. */
function plain(path: string): string {
  return path.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, '?')
}
