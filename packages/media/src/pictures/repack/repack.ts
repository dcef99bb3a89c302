import { avifPieces } from './avif-pieces.ts'
import { gifPieces } from './gif-pieces.ts'
import { SourceFile, writePieces, type Piece } from './source-file.ts'
import { webpPieces } from './webp-pieces.ts'

interface Size {
  width: number
  height: number
}

function repackWith(piecesOf: (source: SourceFile, size: Size) => Piece[]): (path: string, out: string, size: Size) => void {
  return (path, out, size) => {
    const source = new SourceFile(path)
    try {
      writePieces(source, piecesOf(source, size), out)
    } finally {
      source.close()
    }
  }
}

/**
 * Copies a picture of that size without everything that is not part of it, by format. It does not check whether the
 * result can be decoded.
 */
export const repack = {
  webp: repackWith(webpPieces),
  gif: repackWith(gifPieces),
  avif: repackWith(avifPieces),
}
