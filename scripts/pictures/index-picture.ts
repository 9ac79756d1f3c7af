/** A small example of the index: shared rows of one bit per document, and the AND of three of them. */
import { picture, round, text } from './svg.ts'

const rowCount = 12
const documentCount = 36
/** Number of rows per pair; the database uses eight of some hundreds. */
const rowsPerPair = 3
/** Number of pairs of each document besides the one queried. */
const otherPairs = 2
const askedRows = [1, 4, 9]
/** Documents that have the pair queried. */
const holders = [7, 21, 30]

const cell = 14
const left = 176
const top = 78

export function indexPicture(): string {
  const bits = exampleBits()
  const answer = Array.from({ length: documentCount }, (_, document) =>
    askedRows.every((row) => bits[row]?.[document] === true)
  )
  const y = (row: number): number => top + row * (cell + 3)
  const width = left + documentCount * cell + 24
  const answerY = y(rowCount) + 22
  const height = answerY + 92
  const rowOf = (values: readonly boolean[], at: number, isAsked: boolean): string =>
    values
      .map((isSet, document) => {
        const look = isSet ? (isAsked ? 'petal' : 'faint') : 'cell'
        const side = isSet ? cell - 3 : 3
        const offset = (cell - side) / 2
        const [x, up] = [left + document * cell + offset, at + offset]
        return `<rect class="${look}" x="${round(x)}" y="${round(up)}" width="${side}" height="${side}"/>`
      })
      .join('')
  const rows = bits.map((values, row) => {
    const isAsked = askedRows.includes(row)
    const label = text(left - 10, y(row) + cell / 2, `row ${row}`, {
      anchor: 'end',
      className: isAsked ? 'petal' : 'faint'
    })
    return `${label}\n${rowOf(values, y(row), isAsked)}`
  })
  const rings = answer.flatMap((isCandidate, document) => {
    if (!isCandidate) return []
    const x = left + document * cell + cell / 2
    const kind = holders.includes(document) ? 'has it' : 'false'
    const ring = `<rect class="ring" x="${x - cell / 2}" y="${top - 4}" width="${cell}" height="${answerY + cell - top + 8}" rx="3"/>`
    return [ring, text(x, answerY + cell + 16, kind, { anchor: 'middle', className: 'faint' })]
  })
  return picture(width, height, 'A pair is looked up in the rows of a segment', [
    text(24, 20, 'A segment: a row of bits for each shard, a column for each document.'),
    text(
      24,
      40,
      `The pair lang = "fi" hashes to rows ${askedRows.join(', ')}: a document may have it only where all of them have a bit.`
    ),
    text(left, top - 16, 'documents →', { className: 'faint' }),
    ...rows,
    text(left - 10, answerY + cell / 2, `row ${askedRows.join(' AND ')}`, { anchor: 'end', className: 'petal' }),
    rowOf(answer, answerY, true),
    ...rings,
    text(24, height - 36, 'Candidates are fetched and tested, so that the false one is not returned.', {
      className: 'faint'
    }),
    text(24, height - 18, 'Pairs that many documents have get exact rows of their own.', { className: 'faint' })
  ])
}

/** The rows of a segment whose documents have two more pairs each; by chance, one document looks like a holder. */
function exampleBits(): readonly (readonly boolean[])[] {
  const bits = Array.from({ length: rowCount }, () => new Array<boolean>(documentCount).fill(false))
  const set = (row: number, document: number): void => {
    const values = bits[row]
    if (values !== undefined) values[document] = true
  }
  let state = 12
  const next = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 16) % bound
  }
  for (let document = 0; document < documentCount; document++) {
    for (let i = 0; i < otherPairs * rowsPerPair; i++) set(next(rowCount), document)
    if (holders.includes(document)) for (const row of askedRows) set(row, document)
  }
  return bits
}
