/**
 * Partitions: groups of keys that are flushed into separate tables, counted and compacted separately, so that
 * rewriting one sublevel does not involve another's tables.
 *
 * A partition is named by the leading `!name!` groups of a key, at most `depth` of them. A key with fewer groups
 * belongs to the keys without the missing group; these lie before and after the keys that have it, and each side is a
 * partition of its own, so that a table's range never spans another partition's. (Keys like `!abc`, with a bang that
 * opens no group, lie between groups. Their tables may span others', and so may tables written before the option was
 * set; in level 0, partitions whose tables overlap are treated as one, which costs a wider merge and nothing else.)
 */

/** At which borders of partitions a job ends its tables, see own-partitions.ts. Data only. */
export interface PartitionRules {
  /** Number of leading `!name!` groups that name a partition; 0: there is only one. */
  readonly depth: number
  /** A table ends after a partition of which as many bytes, of keys and values, were written; 0: after each. */
  readonly minBytes: number
  /** Names of partitions that are known to be that large: tables end before and after them. */
  readonly own: ReadonlySet<string>
}

const bang = 0x21

/** The end of a key's partition groups: of at most `depth` leading `!name!`. */
export function partitionPrefixEnd(bytes: Uint8Array, depth: number, start = 0, end = bytes.length): number {
  let at = start
  for (let groups = 0; groups < depth; groups++) {
    if (at >= end || bytes[at] !== bang) break
    let close = at + 1
    while (close < end && bytes[close] !== bang) close++
    if (close === end) break
    at = close + 1
  }
  return at
}

/** The end of a key's groups if it has `depth` of them, otherwise Infinity. */
export function fullPrefixEnd(bytes: Uint8Array, depth: number, start: number, end: number): number {
  const groupsEnd = partitionPrefixEnd(bytes, depth, start, end)
  return countGroups(bytes, start, groupsEnd) === depth ? groupsEnd : Number.POSITIVE_INFINITY
}

/** Whether two keys, a[0, aEnd) and b[bStart, bEnd), belong to the same partition. REQUIRES: a ≤ b. */
export function isSamePartition(
  a: Uint8Array,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
  depth: number
): boolean {
  if (depth === 0) return true
  const length = partitionPrefixEnd(a, depth, 0, aEnd)
  if (partitionPrefixEnd(b, depth, bStart, bEnd) - bStart !== length) return false
  for (let i = 0; i < length; i++) if (a[i] !== b[bStart + i]) return false
  return countGroups(a, 0, length) === depth || sideOf(a, length, aEnd) === sideOf(b, bStart + length, bEnd)
}

/**
 * The name of a key's partition: equal within a partition, and ordered like the keys of partitions that do not
 * overlap.
 */
export function partitionName(key: Uint8Array, depth: number): string {
  if (depth === 0) return ''
  const end = partitionPrefixEnd(key, depth)
  const groups = Buffer.from(key.buffer, key.byteOffset, end).toString('latin1')
  if (countGroups(key, 0, end) === depth) return groups
  return groups + sides[sideOf(key, end, key.length)]
}

/** A space sorts before a bang, a quote after it. */
const sides = [' ', '!', '"'] as const

/**
 * Where a key without a further group sorts: 0, before the keys that have one; 1, among them, with a bang that opens no
 * group; 2, after them.
 */
function sideOf(bytes: Uint8Array, start: number, end: number): 0 | 1 | 2 {
  const first = start < end ? (bytes[start] ?? 0) : 0
  if (first < bang) return 0
  return first === bang ? 1 : 2
}

function countGroups(bytes: Uint8Array, start: number, end: number): number {
  let bangs = 0
  for (let i = start; i < end; i++) if (bytes[i] === bang) bangs++
  return bangs / 2
}
