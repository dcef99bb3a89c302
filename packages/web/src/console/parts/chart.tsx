import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { formatDay, formatHour, formatShort } from './format.tsx'

interface Series {
  label: string
  values: readonly number[]
  /** Errors are drawn in the colour of what is bad. */
  tone?: 'accent' | 'bad' | 'muted'
}

interface ChartProps {
  /** Read out in place of the drawing: what it shows and its most important number. */
  label: string
  /** UTC seconds, ascending. */
  times: readonly number[]
  series: readonly Series[]
  height?: number
  /** What the times are; a day by default. */
  by?: 'hour' | 'day'
}

type Plot = typeof uPlot

/** A line chart. Its library is loaded with the first chart. Colours follow light and dark. */
export function Chart({ label, times, series, height = 140, by = 'day' }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const [Plot, setPlot] = useState<Plot>()
  const isDark = useDark()
  useEffect(() => void loadPlot().then((plot) => setPlot(() => plot)), [])
  useEffect(() => {
    const element = place.current
    if (!element || !Plot) return undefined
    const plot = new Plot(
      optionsOf(series, element.clientWidth, height, by),
      [[...times], ...series.map(({ values }) => [...values])],
      element,
    )
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
  }, [Plot, isDark, times, series])
  // The drawing has no text for screen readers, so its label stands for it.
  return <div class="chart" role="img" aria-label={label} ref={place} />
}

async function loadPlot(): Promise<Plot> {
  return (await import('uplot')).default
}

function optionsOf(series: readonly Series[], width: number, height: number, by: 'hour' | 'day'): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const axis = { stroke: colour('muted'), font: '11px system-ui, sans-serif', ticks: { show: false } }
  return {
    width,
    height,
    // The text of the last hour is wider than that of a day.
    padding: [8, by === 'hour' ? 28 : 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        // Pixels between two times, so that their texts do not touch.
        space: by === 'hour' ? 80 : 50,
        values: (_plot, ticks) => ticks.map(by === 'hour' ? formatHour : formatDay),
      },
      {
        ...axis,
        grid: { stroke: colour('line'), width: 1 },
        size: 44,
        values: (_plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? formatShort(tick) : '')),
      },
    ],
    series: [
      {},
      ...series.map(({ label, tone = 'accent' }) => ({
        label,
        stroke: colour(tone),
        width: 1.5,
        points: { show: false },
        ...(tone === 'accent' ? { fill: colour('accent-soft') } : {}),
      })),
    ],
  }
}

const dark = matchMedia('(prefers-color-scheme: dark)')

function useDark(): boolean {
  const [isDark, setDark] = useState(dark.matches)
  useEffect(() => {
    const read = () => setDark(dark.matches)
    dark.addEventListener('change', read)
    return () => dark.removeEventListener('change', read)
  }, [])
  return isDark
}
