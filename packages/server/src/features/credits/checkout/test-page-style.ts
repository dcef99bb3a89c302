/** The whole style of the built-in payment page: the policy allows this text by its hash. */
export const testPageStyle = `
:root{color-scheme:light dark;--background:light-dark(#f6f7f9,#0b0c0f);--surface:light-dark(#fff,#16181d);--text:light-dark(#11141c,#f1f3f6);--muted:light-dark(#565e6e,#9ba2af);--line:light-dark(#7d8595,#6e7686);--accent:light-dark(#4f46e5,#8b93ff);--on-accent:light-dark(#fff,#0b0c0f);--warm:light-dark(#ffe9a8,#3d300b);--warm-line:light-dark(#b98508,#a67f14)}
*{box-sizing:border-box}
body{margin:0;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;padding:1.5rem max(1rem,env(safe-area-inset-left));background:var(--background);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
header{display:flex;align-items:center;gap:.5rem;font-weight:600}
header svg{width:.9rem;height:1.05rem;fill:none;stroke:var(--accent);stroke-width:1.6}
main{--inset:clamp(1.25rem,5vw,2rem);width:min(100%,26rem);padding:0 var(--inset) var(--inset);border:1px solid color-mix(in srgb,var(--line) 28%,transparent);border-radius:14px;background:var(--surface);overflow:clip;overflow-wrap:anywhere}
.mark{margin:0 calc(-1*var(--inset)) 1.75rem;padding:.875rem var(--inset) 1rem;border-bottom:2px dashed var(--warm-line);background:var(--warm);text-align:center;line-height:1.3}
.mark strong{display:block;font-size:1.625rem;font-weight:800;letter-spacing:.08em}
h1{margin:0;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
.count{display:block;font-size:clamp(2.5rem,13vw,3.25rem);line-height:1.05;letter-spacing:-.03em;font-variant-numeric:tabular-nums}
p{margin:0}
.goods{margin-top:.5rem;color:var(--muted)}
dl{display:grid;grid-template-columns:1fr auto;gap:.5rem 1rem;margin:1.5rem 0 0;padding-top:1.25rem;border-top:1px solid color-mix(in srgb,var(--line) 28%,transparent)}
dt{color:var(--muted)}
dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums;text-align:end}
form{display:grid;gap:.625rem;margin-top:1.5rem}
button,.way a{display:block;width:100%;min-height:2.875rem;padding:.625rem 1rem;border:1px solid transparent;border-radius:8px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.quiet{border-color:var(--line);background:none;color:inherit}
.way{margin-top:1.5rem}
.note{margin-top:1.125rem;color:var(--muted);font-size:.875rem;text-align:center}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (forced-colors:active){button,.way a{border-color:ButtonText}}
`
