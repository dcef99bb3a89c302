import { reportLeaks } from './report-leaks.ts'
import { type Leak, plainPath, type Scan, scanPath } from './scan.ts'

/**
 * Scans the path and prints what was found, never a credential itself. `report`: the installation is told, and does with
 * its keys what each tenant has chosen. Returns the exit code.
 */
export async function printScan(path: string, { report = false }: { report?: boolean | undefined } = {}): Promise<number> {
  const scan = await scanPath(path)
  if (report)
    for await (const { leak, isTrue } of reportLeaks(scan.leaks))
      print(leak, isTrue ? ', reported' : ', not of this installation')
  else for (const leak of scan.leaks) print(leak)
  for (const { path: file, reason } of scan.unreadable) console.error(`${plainPath(file)}: not read: ${reason}`)
  console.error(summary(scan))
  if (scan.leaks.length > 0) return 1
  return scan.unreadable.length > 0 ? 2 : 0
}

function print({ path, line, kind, hint }: Leak, verdict = ''): void {
  console.log(`${plainPath(path)}:${line}: ${words(kind)} ${hint}${verdict}`)
}

function summary({ leaks, filesRead, binaryFiles, largeFiles }: Scan): string {
  return `found: ${leaks.length}; files read: ${filesRead}; skipped: ${binaryFiles} binary, ${largeFiles} above 10 MiB`
}

/** `secretKey` → `secret key`. */
function words(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
