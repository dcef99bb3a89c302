/** A request to a picture process. Paths are of internal files. */
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
  /** Of one frame, as it is stored. */
  width: number
  height: number
  frames: number
  channels: number
  bytesPerChannel: 1 | 2
  /** Interlaced or progressive: it is held whole while it is read. */
  progressive: boolean
  /** Such as 4:2:0. */
  subsampling: string
  /** As EXIF counts; 1: upright. */
  orientation: number
}

export interface CleanedPicture {
  /** As it is shown. */
  width: number
  height: number
}

/** What comes of each work. */
export interface PictureResults {
  inspect: PictureFacts
  clean: CleanedPicture
  shrink: Record<never, never>
}

export type PictureAnswer = ({ result: PictureResults[keyof PictureResults] } | { refused: string } | { noRoom: true }) & {
  rssBytes: number
}
