import type { Cursor } from '../format/cursor.ts'
import { compareRanges } from '../format/entry.ts'
import type { Range } from './range.ts'

/** Whether the cursor, which is closed, has an entry in the range, of whatever kind. */
export function hasKeyIn(cursor: Cursor, { start, end }: Range): boolean {
  try {
    if (start === undefined) cursor.seekToFirst()
    else cursor.seek(start)
    if (!cursor.isValid || end === undefined) return cursor.isValid
    const { keyBytes, keyStart, keyEnd } = cursor
    return compareRanges(keyBytes, keyStart, keyEnd, end, 0, end.length) < 0
  } finally {
    cursor.close()
  }
}
