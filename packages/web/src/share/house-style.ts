/**
 * The colours of pages that belong to no tenant: checkout, sign-in, documentation. They are those of the Space app
 * (packages/web/src/space/style/tokens.css). Every text has a contrast of 4.5 or more on `background` and `surface`.
 */
export const HOUSE_COLOURS: Readonly<Record<string, { readonly token: string; readonly light: string; readonly dark: string }>> =
  {
    background: { token: 'ground', light: '#faf6ee', dark: '#171310' },
    surface: { token: 'raised', light: '#fffdf9', dark: '#201b17' },
    sunken: { token: 'sunken', light: '#f1eadc', dark: '#2a241e' },
    text: { token: 'text', light: '#2b241b', dark: '#f2eadf' },
    muted: { token: 'muted', light: '#695c49', dark: '#b5a794' },
    line: { token: 'line', light: '#e4dac8', dark: '#362e26' },
    'line-strong': { token: 'line-strong', light: '#958469', dark: '#7f705d' },
    accent: { token: 'accent', light: '#9e3d1e', dark: '#f0a47f' },
    'accent-strong': { token: 'accent-strong', light: '#84300f', dark: '#f7b797' },
    'on-accent': { token: 'on-accent', light: '#fffaf3', dark: '#2a1409' },
    warm: { token: 'trust-soft', light: '#f7ebd0', dark: '#372b16' },
    'on-warm': { token: 'trust', light: '#7a5410', dark: '#e6c07a' },
    bad: { token: 'bad', light: '#a3271f', dark: '#ff9d90' },
  }

export const HOUSE_SANS =
  'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif'
export const HOUSE_SERIF =
  '"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,"Noto Serif","Liberation Serif",serif'

/** The start of a style sheet: the custom properties of the names above. Pages print on white, also in dark mode. */
export const HOUSE_ROOT = `:root{color-scheme:light dark;${Object.entries(HOUSE_COLOURS)
  .map(([name, { light, dark }]) => `--${name}:light-dark(${light},${dark})`)
  .join(';')};--sans:${HOUSE_SANS};--serif:${HOUSE_SERIF};--round:10px}
@media print{:root{color-scheme:light;--background:#fff;--surface:#fff}}`
