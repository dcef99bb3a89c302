const PATHS = {
  people:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16.5c.3-3 2.4-4.7 5.5-4.7s5.2 1.7 5.5 4.700M13 9.300a2.6 2.6 0 1 0-.9-5M14.6 12c2 .5 3.2 2 3.4 4.5',
  shield: 'M10 2.5 16 4.800v4.700c0 3.8-2.5 6.5-6 8-3.5-1.5-6-4.2-6-8V4.800zM7.3 10l2 2 3.5-3.8',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  share: 'M10 12.500V3M6.5 6 10 2.7 13.5 6M4 10.500v5.200c0 .7.5 1.3 1.3 1.300h9.400c.8 0 1.3-.6 1.3-1.300v-5.2',
  send: 'M3.5 10h12M10.5 4.7 15.8 10l-5.3 5.3',
  reply: 'M8 5 3.5 9.5 8 14M4 9.500h7c3.3 0 5.5 2 5.5 5.5',
  close: 'm5 5 10 10M15 5 5 15',
  copy: 'M7.5 7.500h8v9h-8zM12.5 7.500v-4h-8v9h3',
  check: 'm4.5 10.5 3.7 3.7 7.3-8',
  cross: 'm5.5 5.5 9 9M14.5 5.500l-9 9',
  question: 'M7.3 7.300c.2-1.7 1.3-2.6 2.8-2.6 1.7 0 2.8 1 2.8 2.5 0 2.1-2.8 2.2-2.8 4.500M10 15.300h.01',
  said: 'M3.5 4.5h13v8.5H9.5L6 16v-3H3.5zM7 8.7h6',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.200l2.7 1.6',
  down: 'M10 3.500v12.500M4.8 11 10 16.2 15.2 11',
  download: 'M10 3v9.500M6.5 9.2 10 12.700l3.5-3.500M4 16.500h12',
  trash: 'M4 5.500h12M8 5.500V3.500h4v2M5.5 5.500l.8 11h7.400l.8-11',
  qr: 'M3.5 3.500h4.500v4.500h-4.500zM12 3.500h4.500v4.500h-4.500zM3.5 12h4.500v4.500h-4.500zM12 12h1.500v1.500M16.5 12v1.500M12 16.500h1.500M15.5 15.500h1v1',
  link: 'M8.5 11.500a3 3 0 0 0 4.3 0l2.7-2.700a3 3 0 0 0-4.3-4.300L10 5.700M11.5 8.500a3 3 0 0 0-4.3 0l-2.7 2.700a3 3 0 0 0 4.3 4.300L10 14.3',
} as const

export type IconName = keyof typeof PATHS

/** Decoration: the words are beside it, or in the button's label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}
