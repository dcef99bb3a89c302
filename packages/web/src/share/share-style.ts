import { toHex } from './colour.ts'
import { HOUSE_SANS as SANS, HOUSE_SERIF as SERIF } from './house-style.ts'
import type { Look, Palette, Theme } from './theme.ts'

/**
 * The whole style sheet of a page. It contains only colours and sizes that this code has printed, and no character of
 * a tenant: the policy allows the text by its hash.
 */
export function shareStyle(theme: Theme, size?: { width: number; height: number }): string {
  const known = styles.get(theme) ?? new Map<string, string>()
  styles.set(theme, known)
  const name = size ? `${size.width}x${size.height}` : ''
  let style = known.get(name)
  if (style === undefined) {
    style = [paletteStyle(theme), BASE, LOOKS[theme.look], size ? heroSize(size) : '', PRINT].join('\n')
    if (known.size >= MAX_SIZES) known.clear()
    known.set(name, style)
  }
  return style
}

/**
 * The styles of each theme, by the size of the hero. The theme itself is the key, because a named theme is the same
 * object each time: making the text again, and hashing it as a key, took an eighth of the time of a page.
 */
const styles = new WeakMap<Theme, Map<string, string>>()
const MAX_SIZES = 100

/** The colours of a theme as custom properties. A theme with two palettes follows the visitor's preference. */
export function paletteStyle(theme: Theme): string {
  return 'palette' in theme
    ? root(theme.palette)
    : `${root(theme.light)}\n@media (prefers-color-scheme:dark){${root(theme.dark)}}`
}

function root({ scheme, background, surface, text, muted, accent }: Palette): string {
  const colours = Object.entries({ background, surface, text, muted, accent })
  return `:root{color-scheme:${scheme};${colours.map(([name, colour]) => `--${name}:${toHex(colour)}`).join(';')}}`
}

/** The size is known before the first byte of the picture, so nothing moves when it arrives. */
function heroSize({ width, height }: { width: number; height: number }): string {
  const hero = `min(100%,${width}px,calc(var(--hero-height)*${width}/${height}))`
  const beside = `min(50vw,${width}px,calc(var(--hero-height)*${width}/${height}))`
  return [
    `.piece{width:max(${hero},min(100%,40rem))}`,
    `figure{width:${hero}}`,
    `.hero{width:100%;aspect-ratio:${width}/${height}}`,
    isTall({ width, height }) ? `${BESIDE}{.piece{width:auto}figure{width:${beside}}}` : '',
  ].join('')
}

/** On a wide screen, the text is beside an upright or square picture. */
export function isTall({ width, height }: { width: number; height: number }): boolean {
  return width < height * 1.2
}

const BESIDE = '@media (min-width:60rem)'

const BASE = `
:root{--hero-height:66vh;--hero-height:66svh;--line:color-mix(in srgb,var(--text) 12%,transparent);--display:${SANS}}
*,*::before,*::after{box-sizing:border-box}
html{background:var(--background);color:var(--text);font:1.0625rem/1.65 ${SANS};-webkit-text-size-adjust:100%;text-size-adjust:100%;text-rendering:optimizeLegibility;-webkit-font-smoothing:antialiased}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;padding:clamp(1.25rem,4vw,3.5rem) max(clamp(1.25rem,4vw,3.5rem),env(safe-area-inset-left)) 1.75rem max(clamp(1.25rem,4vw,3.5rem),env(safe-area-inset-right))}
main{flex:1;display:flex;flex-direction:column;justify-content:center;align-items:center;width:100%}
h1,p,figure{margin:0}
.piece{display:flex;flex-direction:column;align-items:center;gap:clamp(1.375rem,3vw,2.25rem);width:fit-content;min-width:min(100%,40rem);max-width:100%}
.hero{display:block;height:auto;object-fit:contain;max-width:100%;max-height:var(--hero-height);margin-inline:auto;border-radius:clamp(8px,1vw,14px);background-color:var(--surface);color:var(--muted);font-size:.9375rem;box-shadow:0 0 0 1px var(--line),0 1px 2px rgb(0 0 0/.05),0 28px 56px -32px rgb(0 0 0/.35)}
video.hero{background-color:#000}
figcaption{margin-top:.875rem;max-width:40rem;color:var(--muted);font-size:.875rem;line-height:1.5;overflow-wrap:anywhere}
.label{width:100%;container-type:inline-size}
.words{display:grid;gap:.875rem 4rem;max-width:40rem}
h1{font-family:var(--display);font-size:clamp(1.625rem,1.25rem + 1.7vw,2.375rem);font-weight:650;line-height:1.18;text-wrap:balance;overflow-wrap:anywhere}
h1:lang(""),h1:lang(und-Cyrl),h1:lang(el){letter-spacing:-.022em}
h1:lang(und-Arab),h1:lang(und-Deva),h1:lang(th){line-height:1.45}
.description{display:grid;gap:1em;color:var(--muted);text-wrap:pretty;overflow-wrap:anywhere}
.state{display:flex;align-items:center;gap:.5em;margin-bottom:.5rem;color:var(--muted);font-size:.8125rem;line-height:1.4}
.state::before{content:"";width:8px;height:8px;border-radius:50%;border:1.5px solid currentcolor}
@container (min-width:48rem){.words:has(.description){grid-template-columns:5fr 7fr;max-width:none}.words:has(.description) .description{padding-top:.3125rem}}
${BESIDE}{.tall{flex-direction:row;gap:clamp(2.5rem,5vw,5rem);min-width:0}.tall figure{flex:none}.tall .label{width:26rem;flex:0 1 26rem}}
.empty{width:min(100%,40rem)}
.empty figure{width:100%}
.frame{aspect-ratio:8/5;border-radius:clamp(8px,1vw,14px);background:var(--surface);box-shadow:inset 0 0 0 1px var(--line);overflow:hidden}
.frame svg{display:block;width:100%;height:100%}
.arch{fill:color-mix(in srgb,var(--text) 5%,var(--surface))}
.arch.d1{fill:color-mix(in srgb,var(--text) 10%,var(--surface))}
.arch.d2{fill:color-mix(in srgb,var(--text) 16%,var(--surface))}
.arch.d3{fill:color-mix(in srgb,var(--text) 24%,var(--surface))}
.lit .d3{fill:color-mix(in srgb,var(--accent) 16%,var(--background))}
.floor{stroke:var(--text);stroke-opacity:.2}
.sun{fill:var(--accent)}
.shine{fill:var(--accent);fill-opacity:.1}
.missing{text-align:center}
.missing .words{margin-inline:auto}
.missing a{color:var(--text)}
footer{margin-top:clamp(2.5rem,6vw,4.5rem);text-align:center;font-size:.8125rem;line-height:1.5}
footer a{display:inline-flex;align-items:center;gap:.5em;padding:.25rem .5rem;border-radius:6px;color:var(--muted);text-decoration:none}
footer a:hover{color:var(--text)}
footer svg{width:.8125rem;height:.9375rem;fill:none;stroke:currentcolor;stroke-width:1.5}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
@media (max-width:40rem){main{justify-content:flex-start}}
@media (max-height:30rem){body{padding-block:1rem .5rem}footer{margin-top:1rem}}
@media (prefers-reduced-motion:no-preference){
.waiting{animation:breathe 5s ease-in-out infinite alternate}
footer a{transition:color .15s}
@keyframes breathe{from{opacity:.6}to{opacity:1}}
}
@media (prefers-contrast:more){:root{--muted:var(--text);--line:var(--text)}}`

const LOOKS: Record<Look, string> = {
  house: `
:root{--display:${SERIF}}
h1{font-weight:600;letter-spacing:-.01em}`,
  plain: '',
  paper: `
:root{--display:${SERIF};--mat:clamp(7px,1.1vw,14px)}
html{font-family:${SERIF};font-size:1.125rem}
h1{font-weight:600}
.hero{border-radius:1px;box-shadow:0 0 0 var(--mat) #fffdf8,0 0 0 calc(var(--mat) + 1px) rgb(60 40 10/.12),0 1px 4px var(--mat) rgb(60 40 10/.14),0 34px 60px -24px rgb(60 40 10/.45)}
figcaption{margin-top:calc(var(--mat) + .875rem)}
.frame{border-radius:2px}`,
  neon: `
.hero,.frame{box-shadow:0 0 0 1px color-mix(in srgb,var(--accent) 55%,transparent),0 0 28px color-mix(in srgb,var(--accent) 28%,transparent),0 0 120px color-mix(in srgb,#3a7bff 30%,transparent)}
.arch{stroke:#4be3ff;stroke-opacity:.45}
.floor{stroke:#4be3ff;stroke-opacity:.6}
h1{text-shadow:0 0 28px color-mix(in srgb,var(--accent) 60%,transparent)}
.state{color:#4be3ff}`,
}

// Black on white, whatever the theme is, with picture and text on one sheet.
const PRINT = `
@media print{
:root{color-scheme:light;--background:#fff;--surface:#fff;--text:#000;--muted:#333;--accent:#000;--hero-height:62vh}
@page{margin:18mm}
html{font-size:11pt}
body{padding:0;min-height:0}
main{justify-content:flex-start}
.hero,.frame{box-shadow:none;border-radius:0;break-inside:avoid}
.piece,.tall{flex-direction:column;align-items:flex-start;min-width:0}
h1{text-shadow:none}
.description p{orphans:3;widows:3}
footer{margin-top:2rem}
}`
