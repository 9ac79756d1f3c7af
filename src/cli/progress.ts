/** Shows the progress of a long command on standard error: a bar on a terminal, a line every few seconds elsewhere. */
import { formatBytes, formatCount } from './format.ts'

/** A position in the work, which is measured in bytes if they are given, and else in documents. */
export interface Position {
  /** Omitted if only bytes are known. */
  readonly documents?: number
  /** What is counted instead of documents. */
  readonly unit?: string
  /** 0 if unknown. */
  readonly totalDocuments?: number
  readonly bytes?: number
  /** undefined or 0 if unknown. */
  readonly totalBytes?: number | undefined
}

const barIntervalMilliseconds = 100
const lineIntervalMilliseconds = 5000
const barCells = 24
const eraseLine = '\r\u001b[K'

/**
 * @example
 * renderProgress({ documents: 430_000, bytes: 43, totalBytes: 100 }, 10_000)
 * // '[=========>              ]  43 %  430,000 documents  43,000/s  ETA 0:13'
 */
export function renderProgress(
  { documents, unit = 'documents', totalDocuments, bytes, totalBytes }: Position,
  elapsedMilliseconds: number
): string {
  const perSecond = (count: number): number => (elapsedMilliseconds > 0 ? (count / elapsedMilliseconds) * 1000 : 0)
  const hasDocuments = documents !== undefined
  const tally = hasDocuments
    ? `${formatCount(documents)} ${unit}  ${formatCount(perSecond(documents))}/s`
    : `${formatBytes(bytes ?? 0)}  ${formatBytes(perSecond(bytes ?? 0))}/s`
  const [done = 0, total = 0] = bytes === undefined ? [documents, totalDocuments] : [bytes, totalBytes]
  if (total === 0) return hasDocuments && bytes !== undefined ? `${formatBytes(bytes)}  ${tally}` : tally
  const fraction = Math.min(1, done / total)
  const filled = Math.round(fraction * barCells)
  const bar = `${'='.repeat(Math.max(0, filled - 1))}${filled > 0 ? '>' : ''}`.padEnd(barCells)
  const percent = `${Math.floor(fraction * 100)} %`.padStart(5)
  const arrival = done > 0 ? `  ETA ${formatClock((elapsedMilliseconds * (1 - fraction)) / fraction)}` : ''
  return `[${bar}] ${percent}  ${tally}${arrival}`
}

/** `0:07`, `12:30`, `1:02:03`. */
function formatClock(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const tail = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`
}

/**
 * Shows how far the work has come until it ends.
 * @param work is given a function to call with each new position
 * @example
 * await showProgress({ bytes: 0 }, (onProgress) => db.backup(directory, { onProgress }))
 */
export async function showProgress<T>(
  start: Position,
  work: (show: (position: Position) => void) => Promise<T>
): Promise<T> {
  let position = start
  using _ = new Progress(() => position)
  return await work((next) => {
    position = next
  })
}

export class Progress implements Disposable {
  readonly #position: () => Position
  readonly #stream = process.stderr
  readonly #started = performance.now()
  readonly #timer: NodeJS.Timeout

  /** @param position called whenever progress is shown */
  constructor(position: () => Position) {
    this.#position = position
    const interval = this.#stream.isTTY ? barIntervalMilliseconds : lineIntervalMilliseconds
    this.#timer = setInterval(() => this.#show(), interval)
    this.#timer.unref()
  }

  get elapsedMilliseconds(): number {
    return performance.now() - this.#started
  }

  /** Prints a separate line above the bar. */
  note(line: string): void {
    this.#stream.write(this.#stream.isTTY ? `${eraseLine}${line}\n` : `${line}\n`)
  }

  /** Removes the bar. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    if (this.#stream.isTTY) this.#stream.write(eraseLine)
  }

  #show(): void {
    const text = renderProgress(this.#position(), this.elapsedMilliseconds)
    const { isTTY, columns = 80 } = this.#stream
    this.#stream.write(isTTY ? `${eraseLine}${text.slice(0, columns - 1)}` : `${text}\n`)
  }
}
