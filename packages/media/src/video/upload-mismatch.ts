/** The bytes are not what was announced; the message says to the owner in what. */
export class UploadMismatch extends Error {}
