/** A request to a picture process. Paths are those of internal files. */
export type PictureJob =
  | { work: 'inspect'; path: string }
  | { work: 'clean'; path: string; out: string; facts: PictureFacts }
  | { work: 'shrink'; path: string; out: string; width: number; format: ShrunkFormat }

export type ShrunkFormat = 'webp' | 'avif'

/** The largest height as a multiple of the requested width. A tall picture is made narrower. */
export const maxHeightRatio = 2

/** The header of a picture, read before anything is decoded. */
export interface PictureFacts {
  format: 'jpeg' | 'png' | 'webp' | 'gif' | 'avif'
  /** The size of one frame, as it is stored. */
  width: number
  height: number
  frames: number
  channels: number
  bytesPerChannel: 1 | 2
  /** Interlaced or progressive: the decoder holds the whole picture in memory. */
  progressive: boolean
  /** The chroma subsampling, such as 4:2:0. */
  subsampling: string
  /** The EXIF orientation; 1: upright. */
  orientation: number
}

export interface CleanedPicture {
  /** The size as it is displayed. */
  width: number
  height: number
}

/** The result of each kind of job. */
export interface PictureResults {
  inspect: PictureFacts
  clean: CleanedPicture
  shrink: Record<never, never>
}

export type PictureAnswer = ({ result: PictureResults[keyof PictureResults] } | { refused: string } | { noRoom: true }) & {
  rssBytes: number
}
