import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './build.ts'

/** A certificate authority of its own, in the files that Caddy looks for. Returns the path of its certificate. */
export async function makeAuthority(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const [certificate, key] = [join(folder, 'root.crt'), join(folder, 'root.key')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
  await run('openssl', [...made, ...extensions, '-subj', '/CN=Atrium tests', '-keyout', key, '-out', certificate])
  return certificate
}
