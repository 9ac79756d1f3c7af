/** A plot of the time of each class of queries, with a mark per store, on a logarithmic axis. */
import { picture, round, text } from './svg.ts'

/** The required parts of a file in bench/results. */
export interface Comparison {
  readonly count: number
  readonly queries: readonly {
    readonly title: string
    readonly hits: number
    readonly milliseconds: Readonly<Record<string, { readonly median: number } | undefined>>
  }[]
}

interface Store {
  readonly name: string
  readonly label: string
  /** An SVG path around 0, 0. Stores differ in shape as well as in colour. */
  readonly mark: string
  readonly look: string
}

const stores: readonly Store[] = [
  { name: 'petaldb', label: 'PetalDB', mark: 'M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z', look: 'class="petal"' },
  { name: 'postgres-gin', label: 'PostgreSQL, GIN', mark: 'M-4.5 -4.5h9v9h-9z', look: 'fill="#3b82c4"' },
  { name: 'sqlite-indexed', label: 'SQLite, an index per path', mark: 'M0 -6l6 6l-6 6l-6 -6z', look: 'fill="#2f9e6e"' },
  { name: 'sqlite', label: 'SQLite, no index', mark: 'M0 -5.5l5.5 10h-11z', look: 'fill="#a08a4c"' }
]

const width = 860
const left = 290
const right = 24
const top = 84
const rowHeight = 26

export function comparisonPlot({ count, queries }: Comparison): string {
  const times = queries.flatMap((query) => stores.flatMap((store) => query.milliseconds[store.name]?.median ?? []))
  const least = Math.floor(Math.log10(Math.min(...times)))
  const most = Math.ceil(Math.log10(Math.max(...times)))
  const across = (value: number): number =>
    left + ((Math.log10(value) - least) / (most - least)) * (width - left - right)
  const bottom = top + queries.length * rowHeight

  const axis = Array.from({ length: most - least + 1 }, (_, i) => least + i).flatMap((power) => {
    const x = across(10 ** power)
    const path = `<path class="line" d="M${round(x)} ${top - 8}V${bottom}"/>`
    return [path, text(x, bottom + 14, tick(power), { anchor: 'middle', className: 'faint' })]
  })
  const legend = stores.map(({ label, mark, look }, i) => {
    const x = [24, 110, 250, 436][i] ?? 0
    return [`<path d="${mark}" ${look} transform="translate(${x} 46)"/>`, text(x + 11, 46, label)].join('')
  })
  const rows = queries.map(({ title, hits, milliseconds }, row) => {
    const y = top + (row + 0.5) * rowHeight
    // PetalDB is drawn last, above the others.
    const marks = [...stores].reverse().flatMap(({ name, label, mark, look }) => {
      const time = milliseconds[name]?.median
      if (time === undefined) return []
      const told = `<title>${label}: ${time.toPrecision(2)} ms</title>`
      return [`<path d="${mark}" ${look} transform="translate(${round(across(time))} ${round(y)})">${told}</path>`]
    })
    const line = `<path class="line" d="M${left} ${round(y)}H${width - right}"/>`
    const count = hits.toLocaleString('en-US')
    return [
      line,
      text(left - 54, y, title, { anchor: 'end' }),
      text(left - 12, y, count, { anchor: 'end', className: 'faint' }),
      ...marks
    ].join('\n')
  })
  const heading = `Milliseconds per query over ${count.toLocaleString('en-US')} tweets: all hits fetched, median, less is better`
  return picture(width, bottom + 32, heading, [
    text(24, 20, heading),
    text(left - 12, top - 12, 'hits', { anchor: 'end', className: 'faint' }),
    ...legend,
    ...axis,
    ...rows
  ])
}

function tick(power: number): string {
  if (power >= 3) return `${10 ** (power - 3)} s`
  return power >= 0 ? `${10 ** power} ms` : `${10 ** (power + 3)} µs`
}
