/** Made by packages/space/build: what the bundle holds beside its code. */
declare module 'atrium:embedded' {
  export const gitCommit: string
  /** `body` is base64. */
  export const app: readonly { readonly path: string; readonly contentType: string; readonly body: string }[]
}
