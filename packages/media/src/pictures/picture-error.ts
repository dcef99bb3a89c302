/**
 * refused: the file is not an acceptable picture; the message tells its sender why. too_slow: its process took too
 * long and was ended. busy: too many others wait.
 */
export type PictureErrorCode = 'refused' | 'too_slow' | 'busy'

export class PictureError extends Error {
  readonly code: PictureErrorCode

  constructor(code: PictureErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
