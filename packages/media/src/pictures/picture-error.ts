/**
 * refused: the file is not a picture that we take; the message says why, to whoever sent it. too_slow: its process was
 * ended for it. busy: too many others wait.
 */
export type PictureErrorCode = 'refused' | 'too_slow' | 'busy'

export class PictureError extends Error {
  readonly code: PictureErrorCode

  constructor(code: PictureErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
