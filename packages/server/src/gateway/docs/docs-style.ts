/** The whole style of the documentation, around the API reference too, which brings its own for what is inside it. */
export const docsStyle = `
:root{color-scheme:light dark;--background:light-dark(#fff,#0e0f13);--surface:light-dark(#f5f6f8,#17191f);--text:light-dark(#14171f,#eceef2);--muted:light-dark(#565e6e,#9ba2af);--line:light-dark(#dfe2e8,#2a2d36);--accent:light-dark(#4f46e5,#a3a9ff);--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
body,body>*,.prose *{box-sizing:border-box}
html{background:var(--background);color:var(--text);font:1rem/1.65 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;max-width:68rem;margin-inline:auto;padding:1.25rem max(clamp(1rem,4vw,2.5rem),env(safe-area-inset-left)) 4rem;display:grid;grid-template-columns:minmax(0,1fr);gap:1rem clamp(2rem,5vw,4rem);}
.prose,nav{overflow-wrap:anywhere}
.prose a{color:var(--accent);text-underline-offset:.15em;text-decoration-thickness:1px}
.skip{position:absolute;left:1rem;top:-4rem;z-index:1;padding:.5rem 1rem;border-radius:8px;background:var(--background)}
.skip:focus{top:1rem}
.brand{display:inline-flex;align-items:center;gap:.5rem;color:inherit;font-weight:600;text-decoration:none}
.brand svg{width:.9rem;height:1.05rem;fill:none;stroke:var(--accent);stroke-width:1.6}
body>nav{font-size:.875rem;line-height:1.4;padding-bottom:.75rem;border-bottom:1px solid var(--line)}
body>nav h2{display:inline;margin:0 .75rem 0 0;font-size:inherit;font-weight:600;color:var(--muted)}
body>nav ul{display:inline;list-style:none;margin:0;padding:0}
body>nav li{display:inline-block;margin-right:.75rem}
body>nav ul::after{content:"";display:block}
body>nav a{display:inline-block;padding:.3125rem 0;color:inherit;text-decoration:none}
body>nav a:hover{text-decoration:underline}
body>nav a[aria-current]{color:var(--accent);font-weight:600}
.prose{min-width:0;outline:0}
.prose h1{margin:.25rem 0 1rem;font-size:clamp(1.625rem,1.3rem + 1.4vw,2.125rem);line-height:1.2;letter-spacing:-.02em;text-wrap:balance}
.prose h2{margin:2.25rem 0 .75rem;font-size:1.25rem;line-height:1.3;letter-spacing:-.01em}
.prose h3{margin:1.75rem 0 .5rem;font-size:1.0625rem}
.prose p,.prose ul,.prose ol{margin:0 0 1rem;text-wrap:pretty}
.prose ul,.prose ol{padding-left:1.375rem}
.prose li{margin-bottom:.25rem}
.prose :is(p,ul,ol){max-width:44rem}
.prose code{font-family:var(--mono);font-size:.875em}
.prose :not(pre)>code{padding:.1em .35em;border-radius:4px;background:var(--surface)}
.prose pre{margin:0 0 1.25rem;padding:.875rem 1rem;border:1px solid var(--line);border-radius:10px;background:var(--surface);overflow-x:auto;font-size:.8125rem;line-height:1.6;overflow-wrap:normal}
.prose pre code{font-size:inherit;white-space:pre}
.prose pre[data-language="json"],.prose pre[data-language="text"]{background:none}
.prose :is(pre[data-language="sh"],pre[data-language="ts"]):has(+:is([data-language="json"],[data-language="text"])){margin-bottom:0;border-end-start-radius:0;border-end-end-radius:0}
.prose :is(pre[data-language="sh"],pre[data-language="ts"])+:is([data-language="json"],[data-language="text"]){border-top:0;border-start-start-radius:0;border-start-end-radius:0}
.prose .comment{color:var(--muted)}
.prose .table{margin:0 0 1.25rem;overflow-x:auto}
.prose table{border-collapse:collapse;font-size:.9375rem;overflow-wrap:normal}
.prose th,.prose td{padding:.4375rem 1rem .4375rem 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:top;min-width:6rem}
.prose footer{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.5rem 2rem;margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
.prose [rel=prev]::before{content:"← "}
.prose [rel=next]::after{content:" →"}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
@media (min-width:56rem){
body:not(.wide){grid-template-columns:11rem minmax(0,1fr);padding-top:2.25rem}
body:not(.wide)>header{grid-column:1/-1}
body:not(.wide)>nav{position:sticky;top:1.5rem;align-self:start;padding:0;border:0}
body:not(.wide)>nav h2{display:block;margin:1.25rem 0 .25rem}
body:not(.wide)>nav h2:first-child{margin-top:.5rem}
body:not(.wide)>nav :is(ul,li){display:block;margin:0}
}
.wide{max-width:90rem;padding-bottom:2rem}
.wide .swagger-ui .wrapper{max-width:none;padding:0}
.wide #operations{overflow-x:auto}
@media print{nav,.skip,footer{display:none}body{display:block;max-width:none}.prose pre code{white-space:pre-wrap}}
`
