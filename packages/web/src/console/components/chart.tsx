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
  const plot = useRef<uPlot>(undefined)
  const isDark = useDark()
  const data = (): uPlot.AlignedData => [[...times], ...series.map(({ values }) => [...values])]
  const labels = series.map(({ label }) => label).join()
  useEffect(() => void loadPlot().then((loaded) => setPlot(() => loaded)), [])
  useEffect(() => {
    const element = place.current
    if (!element || !Plot) return undefined
    const drawn = new Plot(optionsOf(Plot, series, element.clientWidth, height, by), data(), element)
    plot.current = drawn
    const watch = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      drawn.destroy()
    }
  }, [Plot, isDark, labels, times.length === 1])
  // Newer numbers are drawn into the chart that is there: a new one would flicker.
  useEffect(() => plot.current?.setData(data()), [times, series])
  // The drawing has no text for screen readers, so its label stands for it.
  return <div class="chart" role="img" aria-label={label} ref={place} />
}

async function loadPlot(): Promise<Plot> {
  return (await import('uplot')).default
}

function optionsOf(Plot: Plot, series: readonly Series[], width: number, height: number, by: 'hour' | 'day'): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const axis = { stroke: colour('muted'), font: '11px system-ui, sans-serif', ticks: { show: false } }
  return {
    width,
    height,
    ...(by === 'day' ? { tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') } : {}),
    // Half the text of the last time is at the right of its point. That of an hour is wider than that of a day.
    padding: [8, by === 'hour' ? 28 : 22, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, stepsTo(max).at(-1) ?? 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        // Pixels between two times, so that their texts do not touch.
        space: by === 'hour' ? 80 : 50,
        // Steps of whole days: otherwise a day would appear twice.
        ...(by === 'day' ? { incrs: [1, 2, 3, 7, 14, 28, 61, 91].map((days) => days * 86_400) } : {}),
        values: (_plot, ticks) => ticks.map(by === 'hour' ? formatHour : formatDay),
      },
      {
        ...axis,
        grid: { stroke: colour('line'), width: 1 },
        size: 44,
        splits: (_plot, _axis, _min, top) => stepsTo(top),
        values: (_plot, ticks) => ticks.map(formatShort),
      },
    ],
    series: [
      {},
      ...series.map(({ label, values, tone = 'accent' }) => ({
        label,
        stroke: colour(tone),
        width: 1.5,
        // A single time has no line.
        points: { show: values.length === 1 },
        ...(tone === 'accent' ? { fill: colour('accent-soft') } : {}),
      })),
    ],
  }
}

const MAX_STEPS = 4

/** 0 and the values of the lines across, in round steps; the highest is at or above `max`. */
function stepsTo(max: number): number[] {
  const least = Math.max(1, max) / MAX_STEPS
  const power = 10 ** Math.floor(Math.log10(least))
  const step = Math.max(1, ([1, 2, 5].find((digit) => digit * power >= least) ?? 10) * power)
  return Array.from({ length: Math.ceil(Math.max(1, max) / step) + 1 }, (_, at) => at * step)
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
