/** The bytes differ from the announcement. The message tells the owner how. */
export class UploadMismatch extends Error {}
