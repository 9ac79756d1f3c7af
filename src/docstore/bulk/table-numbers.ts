/** How many file numbers the tables of a unit are given. Numbers cost nothing; without one a table cannot be written. */

/** For ids and index records, which become tables at the end. */
export const lastNumbers = 16
/** Of documents in memory, before they become a table. */
export const documentTableBytes = 8 << 20

/** @param bytes of a unit's lines; stored as documents they may be somewhat more */
export function numbersFor(bytes: number): number {
  return lastNumbers + 4 + Math.ceil((4 * bytes) / documentTableBytes)
}
