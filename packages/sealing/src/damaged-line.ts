/** The line is not one that `sealLine` has made. */
export class DamagedLine extends Error {
  override readonly name = 'DamagedLine'
}
