/** An SVG plot of two quantities on logarithmic axes. */

export interface Series {
  readonly label: string
  readonly colour: string
  readonly isFilled: boolean
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface LogPlot {
  readonly title: string
  readonly x: string
  readonly y: string
  /** The shaded area around the diagonal: y within x · (1 ± tolerance). */
  readonly tolerance: number
  readonly series: readonly Series[]
}

const size = 440
const margin = { left: 64, right: 16, top: 36, bottom: 52 }
const plotWidth = size - margin.left - margin.right
const plotHeight = size - margin.top - margin.bottom

export function logPlot({ title, x, y, tolerance, series }: LogPlot): string {
  const values = series.flatMap(({ points }) => points.flat())
  const least = Math.floor(Math.log10(Math.min(...values)))
  const most = Math.ceil(Math.log10(Math.max(...values)))
  const across = (value: number): string =>
    (margin.left + ((Math.log10(value) - least) / (most - least)) * plotWidth).toFixed(1)
  const up = (value: number): string =>
    (margin.top + plotHeight - ((Math.log10(value) - least) / (most - least)) * plotHeight).toFixed(1)
  const [low, high] = [10 ** least, 10 ** most]
  const lines: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}" font-family="sans-serif" font-size="11">`,
    `<title>${title}</title>`,
    `<rect width="${size}" height="${size}" fill="#fff"/>`,
    `<clipPath id="plot"><rect x="${margin.left}" y="${margin.top}" width="${plotWidth}" height="${plotHeight}"/></clipPath>`,
    `<text x="${size / 2}" y="20" text-anchor="middle" font-size="13">${title}</text>`
  ]
  for (let power = least; power <= most; power++) {
    const at = 10 ** power
    lines.push(
      `<path d="M${across(at)} ${up(low)}V${up(high)}M${across(low)} ${up(at)}H${across(high)}" stroke="#ddd"/>`,
      `<text x="${across(at)}" y="${size - margin.bottom + 16}" text-anchor="middle">1e${power}</text>`,
      `<text x="${margin.left - 8}" y="${up(at)}" text-anchor="end" dominant-baseline="middle">1e${power}</text>`
    )
  }
  const band = [
    [low, low * (1 + tolerance)],
    [high, high * (1 + tolerance)],
    [high, high * (1 - tolerance)],
    [low, low * (1 - tolerance)]
  ].map(([a = 1, b = 1]) => `${across(a)},${up(b)}`)
  lines.push(
    `<g clip-path="url(#plot)"><polygon points="${band.join(' ')}" fill="#e8f0e8"/>`,
    `<path d="M${across(low)} ${up(low)}L${across(high)} ${up(high)}" stroke="#888"/></g>`,
    `<text x="${margin.left + plotWidth / 2}" y="${size - 14}" text-anchor="middle">${x}</text>`,
    `<text transform="translate(14 ${margin.top + plotHeight / 2}) rotate(-90)" text-anchor="middle">${y}</text>`
  )
  series.forEach(({ label, colour, isFilled, points }, i) => {
    const style = `fill="${isFilled ? colour : 'none'}" stroke="${colour}"`
    const top = margin.top + 14 + i * 16
    lines.push(`<g ${style}>`)
    for (const [a, b] of points) lines.push(`<circle cx="${across(a)}" cy="${up(b)}" r="3"/>`)
    lines.push(`<circle cx="${margin.left + 12}" cy="${top}" r="3"/></g>`)
    lines.push(`<text x="${margin.left + 20}" y="${top}" dominant-baseline="middle">${label}</text>`)
  })
  return `${[...lines, '</svg>'].join('\n')}\n`
}
