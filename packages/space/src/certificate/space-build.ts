/** A file of the app as it is served. */
export interface AppFile {
  /** `/space` is the page; everything else lies under `/space/`. */
  readonly path: string
  readonly contentType: string
  readonly body: Uint8Array
}

/** What this process is made of. */
export interface SpaceBuild {
  /** With `-modified` when what was built is not what that commit holds; `unknown` when it was built from no commit. */
  readonly gitCommit: string
  /** The bytes of the bundle file that is running. */
  readonly functionCode: Uint8Array
  /** The bytes of source.tar.gz. */
  readonly sourceArchive: Uint8Array
  readonly app: readonly AppFile[]
}
