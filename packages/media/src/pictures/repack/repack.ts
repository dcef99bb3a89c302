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
 * Copies the picture of that size and leaves out what is no part of it, by format. Whether what is left can be decoded
 * is not looked at.
 */
export const repack = {
  webp: repackWith(webpPieces),
  gif: repackWith(gifPieces),
  avif: repackWith(avifPieces),
}
