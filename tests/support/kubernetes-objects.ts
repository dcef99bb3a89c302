import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  spec?: any
  data?: Record<string, string>
}

interface Validator {
  (value: unknown): boolean
  errors?: unknown[] | null
}

const kubernetes = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url))

/** The objects of a file of deploy/kubernetes that no overlay has. */
export function objectsOf(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(join(kubernetes, file), 'utf8')).map((document) => document.toJS() as KubernetesObject)
}

/** The objects of an overlay of deploy/kubernetes, or of a copy of it, as `kubectl kustomize` renders them. */
export function renderOverlay(name: string, root: string = kubernetes): KubernetesObject[] {
  const folder = join(root, 'overlays', name)
  const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject)
}

/**
 * Checks an object against the schema of Kubernetes. Returns what is wrong, and the fields that the schema does not have,
 * which Kubernetes would drop.
 */
export async function problemsOf(object: KubernetesObject): Promise<unknown[]> {
  const validate = await schemaOf(object)
  const unread = new Set<string>()
  const isValid = validate(watch(object, '', unread))
  return isValid ? [...unread].map((path) => `unknown field ${path}`) : (validate.errors ?? ['invalid'])
}

async function schemaOf({ apiVersion, kind }: KubernetesObject): Promise<Validator> {
  const [group = 'core', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  const name = `IoK8sApi${capital(group.split('.')[0] ?? '')}${capital(version)}${kind}`
  const { validate } = (await import(`kubernetes-models/_schemas/${name}`)) as { validate: Validator }
  return validate
}

/** A copy whose fields leave `unread` when they are read: a validator reads each field that its schema has. */
function watch(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, child]) => {
    unread.add(`${path}/${key}`)
    return [key, watch(child, `${path}/${key}`, unread)] as const
  })
  const copy = Array.isArray(value) ? entries.map(([, child]) => child) : Object.fromEntries(entries)
  return new Proxy(copy, {
    get: (target, key, receiver) => {
      if (typeof key === 'string') unread.delete(`${path}/${key}`)
      return Reflect.get(target, key, receiver) as unknown
    },
  })
}
