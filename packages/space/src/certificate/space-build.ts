/** A file of the app as it is served. */
export interface AppFile {
  /** `/space` is the page; every other path begins with `/space/`. */
  readonly path: string
  readonly contentType: string
  readonly body: Uint8Array
}

/** The build that this process runs. */
export interface SpaceBuild {
  /** With `-modified` if the built files differ from that commit; `unknown` if they are from no commit. */
  readonly gitCommit: string
  /** The bytes of the running bundle. */
  readonly functionCode: Uint8Array
  /** The bytes of source.tar.gz. */
  readonly sourceArchive: Uint8Array
  readonly app: readonly AppFile[]
}
