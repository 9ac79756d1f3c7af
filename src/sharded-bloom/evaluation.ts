/** What the evaluation of bounds over one segment gives. */

export interface Evaluation {
  /** Positions in upper, live and below the limit, ascending. */
  readonly upper: Uint16Array
  readonly lowerCount: number
  readonly isLowerUpper: boolean
  /** Which positions of `upper` are in lower, one bit each; undefined when none, or all of them are. */
  readonly certain: Uint8Array | undefined
  readonly rowsRead: number
  readonly bytesTouched: number
}

/** No document, and no row read. */
export const noDocuments: Evaluation = {
  upper: new Uint16Array(0),
  lowerCount: 0,
  isLowerUpper: true,
  certain: undefined,
  rowsRead: 0,
  bytesTouched: 0
}
