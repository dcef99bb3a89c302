import { HOUSE_SANS as SANS, HOUSE_SERIF as SERIF } from '../share/house-style.ts'
import { paletteStyle } from '../share/share-style.ts'
import type { Look, Theme } from '../share/theme.ts'

/** The whole style sheet of a wall. Like that of a share page, it contains no character of a tenant. */
export function wallStyle(theme: Theme): string {
  return [paletteStyle(theme), base, cards, book, stage, looks[theme.look], motion, print].join('\n')
}

/** The root's font size grows with the window, so that a projected wall is legible from the back row. */
const base = `
:root{--display:${SANS};--line:color-mix(in srgb,var(--text) 13%,transparent);--radius:.875rem;--pad:clamp(1rem,3.2vw,3.5rem);--lift:0 1px 2px rgb(0 0 0/.05),0 14px 32px -22px rgb(0 0 0/.35)}
*,*::before,*::after{box-sizing:border-box}
[hidden]{display:none!important}
html{background:var(--background);color:var(--text);font:clamp(1.0625rem,.66rem + .46vw,2.125rem)/1.55 ${SANS};-webkit-text-size-adjust:100%;text-size-adjust:100%;-webkit-font-smoothing:antialiased}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;padding:clamp(1.25rem,3vw,3rem) max(var(--pad),env(safe-area-inset-left)) 1.5rem max(var(--pad),env(safe-area-inset-right))}
h1,h2,p,figure,ol,dl,dd{margin:0;padding:0}
header{display:flex;flex-wrap:wrap;align-items:flex-start;justify-content:space-between;gap:1rem 3rem;margin-bottom:clamp(1.25rem,2.4vw,2.5rem)}
header .words{display:grid;gap:.625rem;flex:1 1 20rem;min-width:0;max-width:56rem}
h1{font-family:var(--display);font-size:clamp(1.75rem,1.3rem + 1.5vw,2.75rem);font-weight:680;line-height:1.14;text-wrap:balance;overflow-wrap:anywhere}
h1:lang(""),h1:lang(und-Cyrl),h1:lang(el){letter-spacing:-.022em}
h1:lang(und-Arab),h1:lang(und-Deva),h1:lang(th){line-height:1.45}
.description{display:grid;gap:.75em;max-width:42rem;color:var(--muted);text-wrap:pretty;overflow-wrap:anywhere}
.side,.controls{display:flex;align-items:center;gap:1rem}
.side{flex-wrap:wrap;min-height:2.25rem}
.state,.live{font-size:.8125rem;color:var(--muted)}
.live{display:flex;align-items:center;gap:.5em}
.live::before{content:"";width:.5rem;height:.5rem;border-radius:50%;background:var(--muted)}
.live.on::before{background:var(--accent);box-shadow:0 0 0 .25rem color-mix(in srgb,var(--accent) 22%,transparent)}
button,nav a{font:inherit;font-size:.875rem;line-height:1.4;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:99px;padding:.4375rem 1rem;min-height:2.25rem;cursor:pointer;text-decoration:none}
button:hover,nav a:hover{border-color:var(--text)}
.fresh{position:fixed;z-index:2;inset:1rem 0 auto;display:flex;justify-content:center;pointer-events:none}
.fresh button{pointer-events:auto;background:var(--text);color:var(--background);border-color:var(--text);box-shadow:0 10px 30px -10px rgb(0 0 0/.5)}
.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
main{flex:1;display:flex;flex-direction:column;min-width:0}
.items{list-style:none;min-width:0}
.item{position:relative;min-width:0;overflow-wrap:anywhere}
.item h2{font-family:var(--display);font-size:1.1875rem;font-weight:650;line-height:1.3;text-wrap:balance}
.text{display:grid;gap:.7em;text-wrap:pretty}
.emoji{font-size:2.5rem;line-height:1.15}
dl{display:grid;gap:.375rem}
dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1.25rem;border-bottom:1px solid var(--line);padding-bottom:.375rem}
dl div:last-child{border:0;padding:0}
dt{color:var(--muted);font-size:.875rem}
dd{font-weight:600}
.by{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .625rem;font-size:.8125rem;line-height:1.5;color:var(--muted)}
.author{font-weight:600;color:var(--text)}
figure img{display:block;width:100%;height:auto;max-height:70vh;object-fit:cover;border-radius:calc(var(--radius) - .25rem);background:var(--surface);color:var(--muted);font-size:.8125rem}
.empty{margin:auto;width:min(100%,34rem);text-align:center;color:var(--muted);display:grid;gap:1rem}
.frame{aspect-ratio:8/5;border-radius:var(--radius);background:var(--surface);box-shadow:inset 0 0 0 1px var(--line);overflow:hidden}
.frame svg{display:block;width:100%;height:100%}
.arch{fill:color-mix(in srgb,var(--text) 5%,var(--surface))}
.arch.d1{fill:color-mix(in srgb,var(--text) 10%,var(--surface))}
.arch.d2{fill:color-mix(in srgb,var(--text) 16%,var(--surface))}
.arch.d3{fill:color-mix(in srgb,var(--text) 24%,var(--surface))}
.lit .d3{fill:color-mix(in srgb,var(--accent) 16%,var(--background))}
.floor{stroke:var(--text);stroke-opacity:.2}
.sun{fill:var(--accent)}
.shine{fill:var(--accent);fill-opacity:.1}
nav{display:flex;justify-content:center;gap:.75rem;margin-top:2.5rem}
footer{margin-top:clamp(2rem,4vw,3.5rem);text-align:center;font-size:.8125rem;line-height:1.5}
footer a{display:inline-flex;align-items:center;gap:.5em;padding:.25rem .5rem;border-radius:6px;color:var(--muted);text-decoration:none}
footer a:hover{color:var(--text)}
footer svg{width:.8125rem;height:.9375rem;fill:none;stroke:currentcolor;stroke-width:1.5}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
@media (max-height:30rem){body{padding-block:.75rem .5rem}footer{margin-top:1rem}}
@media (prefers-contrast:more){:root{--muted:var(--text);--line:var(--text)}}`

/** The script packs the rows of the grid. Without it, and on paper, cards of a row start at the same height. */
const cards = `
.cards .items{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17.5rem),1fr));gap:1rem;align-items:start}
.cards .item{display:grid;gap:.75rem;padding:1.125rem 1.25rem;background:var(--surface);border:1px solid var(--line);border-radius:var(--radius);box-shadow:var(--lift)}
.cards .tiny .text{font-size:1.5rem;line-height:1.3;font-weight:550}
.cards .short .text{font-size:1.1875rem;line-height:1.45}
.cards figure{margin:-.625rem -.75rem 0}
.cards .hero{border-color:color-mix(in srgb,var(--accent) 60%,var(--line));padding:1.625rem 1.875rem;gap:1rem;background:var(--background);box-shadow:0 0 0 .25rem color-mix(in srgb,var(--accent) 14%,transparent),var(--lift)}
.cards .hero .text{font-size:1.375rem;line-height:1.42}
.cards .hero.short .text{font-size:1.75rem;line-height:1.3}
.cards .hero.tiny .text{font-size:2.25rem;line-height:1.2}
.cards .hero h2{font-size:1.75rem}
@media (min-width:44rem){.cards .hero{grid-column:span 2}}
.cards .items.packed{gap:0 1rem;grid-auto-rows:1px}
`

const book = `
.book header,.book main{width:min(100%,44rem);margin-inline:auto}
.book .item{display:grid;gap:.5rem;padding:1.5rem 0;border-top:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 9rem}
.book .text{font-size:1.125rem;line-height:1.62}
.book .tiny .text{font-size:1.375rem}
.book .by{order:9}
.book .hero{margin-block:.75rem;padding:1.75rem clamp(1.25rem,4vw,2.25rem);border:1px solid color-mix(in srgb,var(--accent) 60%,var(--line));border-radius:var(--radius);background:var(--background);box-shadow:0 0 0 .25rem color-mix(in srgb,var(--accent) 14%,transparent),var(--lift)}
.book .hero+.item{border-top-color:transparent}
.book .hero .text{font-size:1.4375rem;line-height:1.42}
.book .hero h2{font-size:1.5rem}
`

/**
 * Without the script, and on paper, a stage is a list of large texts. With it, one item is on the stage and the newest
 * are beside it.
 */
const stage = `
.stage{padding-bottom:.75rem}
.stage header{margin-bottom:1.25rem;align-items:center}
.stage h1{font-size:1.375rem}
.stage .description,.stage footer{font-size:.8125rem}
.stage footer{margin-top:1rem}
.stage .item{display:grid;gap:.875rem;padding:1.5rem 0;border-top:1px solid var(--line)}
.stage .text{font-size:1.5rem;line-height:1.4}
@media screen{
.stage.playing .item{gap:.375rem;padding:.875rem 0}
.stage.playing .item:not(.current) .text{font-size:.9375rem;line-height:1.5;max-height:4.5em;overflow:hidden}
.stage.playing .item:not(.current) figure{display:none}
.stage.playing .item:not(.current) .emoji{font-size:1.375rem}
.stage.playing .item:not(.current) dl{font-size:.875rem}
.stage.playing .item:not(.current) h2{font-size:.9375rem}
.stage.playing .current{gap:1.75rem;border:0;padding:0;align-content:center}
.stage.playing .current .text{font-size:clamp(1.375rem,2.6vw,3rem);line-height:1.36}
.stage.playing .current.short .text{font-size:clamp(1.75rem,4.2vw,5.5rem);line-height:1.22}
.stage.playing .current.tiny .text{font-size:clamp(2.25rem,6.2vw,8rem);line-height:1.1;font-weight:600}
.stage.playing .current h2{font-size:clamp(1.75rem,3.6vw,3.75rem);line-height:1.15}
.stage.playing .current .by{font-size:1.0625rem}
.stage.playing .current .emoji{font-size:5rem}
.stage.playing .current figure img{max-height:46vh;width:auto;max-width:100%}
.stage.playing nav{display:none}
@media (min-width:60rem) and (min-height:34rem){
.stage.playing{height:100vh;height:100svh;overflow:hidden}
.stage.playing main{min-height:0;overflow:hidden}
.stage.playing .items{position:relative;flex:1;min-height:0;overflow:hidden;padding-inline-start:calc(100% - clamp(17rem,23vw,30rem))}
.stage.playing .current{position:absolute;inset-block:0;inset-inline-start:0;width:calc(100% - clamp(17rem,23vw,30rem) - clamp(2rem,5vw,6rem));overflow:hidden}
.stage.playing .items::after{content:"";position:absolute;inset:auto 0 0;height:4rem;background:linear-gradient(transparent,var(--background))}
}
@media (max-width:59.99rem),(max-height:33.99rem){
.stage.playing .items{display:flex;flex-direction:column}
.stage.playing .current{order:-1;min-height:52svh;border-bottom:1px solid var(--line);padding-bottom:1.5rem}
}
}
`

const looks: Record<Look, string> = {
  house: `
:root{--display:${SERIF}}
h1,.item h2{font-weight:600;letter-spacing:-.01em}`,
  plain: '',
  paper: `
:root{--display:${SERIF};--radius:.1875rem;--lift:0 1px 1px rgb(60 40 10/.12),0 12px 24px -14px rgb(60 40 10/.4)}
html{font-family:${SERIF}}
h1,.item h2{font-weight:600}
.cards .item:not(.hero){background:#fffdf8;border-color:rgb(60 40 10/.1)}
.cards .tiny .text{font-weight:500}`,
  neon: `
:root{--lift:0 0 0 1px color-mix(in srgb,var(--accent) 20%,transparent),0 0 26px -6px color-mix(in srgb,#3a7bff 45%,transparent)}
h1{text-shadow:0 0 28px color-mix(in srgb,var(--accent) 60%,transparent)}
.cards .hero,.book .hero{box-shadow:0 0 0 1px color-mix(in srgb,var(--accent) 55%,transparent),0 0 44px -4px color-mix(in srgb,var(--accent) 40%,transparent)}
.stage.playing .current :is(.text,h2){text-shadow:0 0 44px color-mix(in srgb,var(--accent) 55%,transparent)}
.author,.state{color:#4be3ff}`,
}

/** Only opacity and transform move: a browser paints the page again for each frame of any other animation. */
const motion = `
.cards .arrived::after{content:"";position:absolute;inset:-1px;border-radius:inherit;outline:2px solid color-mix(in srgb,var(--accent) 70%,transparent);outline-offset:2px;pointer-events:none}
@media (prefers-reduced-motion:no-preference){
.arrived{animation:arrive .7s cubic-bezier(.2,.8,.2,1) both}
.cards .arrived::after{animation:settle .8s 4.2s ease-out both}
.leaving{opacity:0;transition:opacity .25s}
.stage.playing .current{animation:enter .8s cubic-bezier(.2,.8,.2,1) both}
.waiting{animation:breathe 5s ease-in-out infinite alternate}
@keyframes arrive{from{opacity:0;transform:translateY(-.75rem) scale(.985)}}
@keyframes settle{to{opacity:0}}
@keyframes enter{from{opacity:0;transform:translateY(1.5rem)}}
@keyframes breathe{from{opacity:.6}to{opacity:1}}
}`

const print = `
@media print{
:root{color-scheme:light;--background:#fff;--surface:#fff;--text:#000;--muted:#333;--accent:#000}
html{font-size:10.5pt}
body{padding:0}
.side,nav,.fresh{display:none!important}
.item{break-inside:avoid;box-shadow:none!important}
.cards .items.packed{grid-auto-rows:auto;gap:1rem}
.cards .packed .item{grid-row-end:auto!important}
h1{text-shadow:none}
}`
