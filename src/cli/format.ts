/** Formats numbers, sizes, durations and tables for people. */

/** `12,345`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** `1 document`, `12,345 documents`. */
export function formatNumberOf(noun: string, value: number): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `532 B`, `1.4 MiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? formatCount(value) : value.toFixed(value < 100 ? 1 : 0)} ${byteUnits[unit]}`
}

/** `0.14 ms`, `23 ms`, `3.2 s`, `4 min 05 s`, `2 h 03 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(2)} ms`
  if (milliseconds < 1000) return `${milliseconds.toFixed(0)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor(seconds / 60) % 60)} min`
}

/** The result of a command as JSON, with the time it took. */
export function timedJson(result: object, milliseconds: number): string {
  return JSON.stringify({ ...result, seconds: Math.round(milliseconds) / 1000 })
}

/** `43.1 %`; with more digits below one percent, so that a small rate is not shown as zero. */
export function formatPercent(fraction: number): string {
  const percent = fraction * 100
  return `${percent === 0 || percent >= 1 ? percent.toFixed(1) : percent.toPrecision(2)} %`
}

/**
 * Formats a table, with columns two spaces apart.
 * @param alignment one character per column, `l` or `r`; the last one applies to all further columns
 */
export function formatTable(rows: readonly (readonly string[])[], alignment: string): readonly string[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length)
    })
  }
  const isRight = (column: number): boolean => alignment[Math.min(column, alignment.length - 1)] === 'r'
  return rows.map((row) =>
    row
      .map((cell, i) => (isRight(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  )
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
