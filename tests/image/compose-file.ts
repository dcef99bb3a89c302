/** compose.yaml as an engine reads it. */
import { parse } from 'yaml'

export interface Service {
  image: string
  command?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  volumes?: string[]
  tmpfs?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  healthcheck?: { test?: string[]; interval?: string; start_period?: string; retries?: number; disable?: boolean }
  networks: string[] | Record<string, { aliases?: string[]; ipv4_address?: string }>
  depends_on?: Record<string, { condition: string }>
}

export interface ComposeFile {
  services: Record<string, Service>
  networks: Record<string, { ipam: { config: { subnet: string; ip_range: string }[] } }>
  volumes: Record<string, object>
  secrets: Record<string, { file: string }>
}

export function readCompose(text: string, settings: Readonly<Record<string, string>>): ComposeFile {
  return JSON.parse(JSON.stringify(parse(text, { merge: true })), (_, value: unknown) =>
    typeof value === 'string' ? interpolate(value, settings) : value,
  ) as ComposeFile
}

/** ${NAME}, ${NAME:-in its place}, ${NAME:?what it is}, and $$ for a dollar. */
function interpolate(text: string, settings: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\}|)/g, (_, dollar, name, kind, rest) => {
    if (dollar) return '$'
    if (!name) throw new Error(`"${text}" has a dollar that begins nothing`)
    const value = settings[String(name)] ?? ''
    if (value === '' && kind === '?') throw new Error(`${name} is not set: ${rest}`)
    return value === '' && kind === '-' ? String(rest) : value
  })
}

/** What `5s` is, in milliseconds. */
export function millisecondsOf(text: string): number {
  const match = /^(\d+)(ms|s|m)$/.exec(text)
  if (!match) throw new Error(`${text} is no duration`)
  return Number(match[1]) * { ms: 1, s: 1_000, m: 60_000 }[match[2] as 'ms' | 's' | 'm']
}
