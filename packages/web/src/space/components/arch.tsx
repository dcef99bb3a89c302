/** The house's mark. */
export function ArchMark() {
  return (
    <svg class="arch-mark" viewBox="0 0 13 15" aria-hidden="true" focusable="false">
      <path d="M1 14V6.5a5.5 5.5 0 0 1 11 0V14M4 14V6.5a2.5 2.5 0 0 1 5 0V14" />
    </svg>
  )
}

const FLOOR = 318
const MIDDLE = 320
const INNERMOST = 48
const RADII = [150, 114, 80, INNERMOST]

function archPath(radius: number): string {
  const spring = FLOOR - Math.round(36 + radius * 0.55)
  return `M${MIDDLE - radius} ${FLOOR}V${spring}a${radius} ${radius} 0 0 1 ${radius * 2} 0V${FLOOR}z`
}

/** Arches within arches, and a light in the innermost one. */
export function ArchDrawing() {
  return (
    <svg class="arch-drawing" viewBox="0 0 640 400" aria-hidden="true" focusable="false">
      <clipPath id="opening">
        <path d={archPath(INNERMOST)} />
      </clipPath>
      {RADII.map((radius, depth) => (
        <path key={radius} class={`arch d${depth}`} d={archPath(radius)} />
      ))}
      <circle class="sun" clip-path="url(#opening)" cx={MIDDLE + 11} cy={FLOOR - 30} r="23" />
      <path class="shine" d={`M${MIDDLE - 48} ${FLOOR}h96L${MIDDLE + 82} 400H${MIDDLE - 126}z`} />
      <path class="floor" d={`M0 ${FLOOR}H640`} />
    </svg>
  )
}
