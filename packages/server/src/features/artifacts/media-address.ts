import type { Config } from '#config/config.ts'

/** Where the bytes of a stored artifact are served: see getMedia. */
export function mediaAddress({ publicUrl }: Pick<Config, 'publicUrl'>, artifactId: string): string {
  return `${publicUrl}/v1/media/${artifactId}`
}
