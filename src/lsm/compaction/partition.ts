/**
 * Partitions: groups of keys that are flushed into tables of their own, counted on their own and compacted on their
 * own, so that one sublevel's rewriting does not drag another's tables along.
 *
 * A partition is named by the leading `!name!` groups of a key, at most `depth` of them. A key with fewer groups than
 * that belongs to the keys without the missing group; these lie before and after the keys that have it, and each side
 * is a partition, so that a table's range never spans another partition's. (Keys like `!abc`, with a bang that opens
 * no group, lie between groups. Their tables may span others', and tables from before the option had its value span what
 * they span; in level 0, partitions whose tables overlap are taken for one, which costs a wider merge and nothing else.)
 */

const bang = 0x21

/** Where the group of a key's partition ends: at most `depth` leading `!name!`. */
export function partitionOf(bytes: Uint8Array, depth: number, start = 0, end = bytes.length): number {
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

/** Where a key's groups end, if it has as many as `depth`; else Infinity. */
export function endOfGroups(bytes: Uint8Array, depth: number, start: number, end: number): number {
  const groupsEnd = partitionOf(bytes, depth, start, end)
  return groupsIn(bytes, start, groupsEnd) === depth ? groupsEnd : Number.POSITIVE_INFINITY
}

/** Whether two keys, of which the second is not smaller, are of one partition. */
export function isSamePartition(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
  depth: number
): boolean {
  if (depth === 0) return true
  const length = partitionOf(a, depth, aStart, aEnd) - aStart
  if (partitionOf(b, depth, bStart, bEnd) - bStart !== length) return false
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false
  return (
    groupsIn(a, aStart, aStart + length) === depth ||
    sideOf(a, aStart + length, aEnd) === sideOf(b, bStart + length, bEnd)
  )
}

/** A partition as a string: equal for keys of one partition, and ascending with the keys where they do not overlap. */
export function partitionName(key: Uint8Array, depth: number): string {
  if (depth === 0) return ''
  const end = partitionOf(key, depth)
  const groups = Buffer.from(key.buffer, key.byteOffset, end).toString('latin1')
  if (groupsIn(key, 0, end) === depth) return groups
  return groups + sides[sideOf(key, end, key.length)]
}

/** A space sorts before a bang, a quote after it. */
const sides = [' ', '!', '"'] as const

/** Of a key without a further group, what follows it: before the groups, a bang that opens none, behind the groups. */
function sideOf(bytes: Uint8Array, start: number, end: number): 0 | 1 | 2 {
  const first = start < end ? (bytes[start] ?? 0) : 0
  if (first < bang) return 0
  return first === bang ? 1 : 2
}

function groupsIn(bytes: Uint8Array, start: number, end: number): number {
  let bangs = 0
  for (let i = start; i < end; i++) if (bytes[i] === bang) bangs++
  return bangs / 2
}
