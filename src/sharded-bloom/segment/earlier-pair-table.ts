/**
 * The private pairs of a segment sealed before format 8, in which each pair repeated its path.
 *
 * | bytes     | for each pair, in turn, ascending by the `lo` of their hashes                 |
 * | --------- | ----------------------------------------------------------------------------- |
 * | 4 · pairs | `lo` of its hash                                                              |
 * | 4 · pairs | its row number: −1 for no document, −2 for every document                     |
 * | 4 · pairs | where its text ends, from the end of these lists                              |
 * | …         | its text, JSON as in segment-record.ts: `[path, tag, key]`                    |
 */
import { lengthOfLists, listsOf, type StoredPairTable } from './pair-table.ts'

const bytesPerPair = 12
const backslash = '\\'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const quote = '"'.charCodeAt(0)
const zero = '0'.charCodeAt(0)

/**
 * Rewrites such a table in the present form, without parsing pairs, which would take several times as long.
 * @returns undefined for bytes that are not a table of this many pairs
 */
export function rewriteEarlierPairTable(bytes: Uint8Array, count: number): StoredPairTable | undefined {
  const start = bytesPerPair * count
  if (bytes.length < start) return undefined
  const { buffer } = new Uint8Array(bytes.subarray(0, start))
  const ends = new Uint32Array(buffer, 8 * count, count)
  const texts = bytes.subarray(start)
  if ((ends[count - 1] ?? 0) !== texts.length) return undefined
  const length = lengthOfLists(count)
  const rewritten = new Uint8Array(length + 2 * texts.length + 2)
  const lists = listsOf(rewritten.buffer, count)
  lists.hashes.set(new Int32Array(buffer, 0, count))
  lists.rowOf.set(new Int32Array(buffer, 4 * count, count))
  const numbers = new Map<string, number>()
  let end = length
  for (let i = 0; i < count; i++) {
    const text = texts.subarray(i === 0 ? 0 : ends[i - 1], ends[i])
    const pathEnd = endOfString(text)
    const keyStart = text.indexOf(comma, pathEnd + 1) + 1
    if (pathEnd === 0 || keyStart === 0) return undefined
    const path = decoder.decode(text.subarray(1, pathEnd))
    const number = numbers.get(path) ?? numbers.size
    numbers.set(path, number)
    const key = text.subarray(keyStart, -1)
    rewritten.set(key, end)
    end += key.length
    lists.ends[i] = end - length
    lists.pathOf[i] = number
    lists.tags[i] = text.subarray(pathEnd + 1, keyStart - 1).reduce((tag, digit) => 10 * tag + digit - zero, 0)
  }
  const paths = encoder.encode(`[${[...numbers.keys()].join(',')}]`)
  rewritten.set(paths, end)
  return { bytes: rewritten.subarray(0, end + paths.length), paths: numbers.size }
}

/** Returns where the string at the beginning of a pair's text ends; 0 if it does not. */
function endOfString(text: Uint8Array): number {
  for (let at = text.indexOf(quote, 2); at > 0; at = text.indexOf(quote, at + 1)) {
    let unescaped = at
    while (text[unescaped - 1] === backslash) unescaped--
    if ((at - unescaped) % 2 === 0) return at + 1
  }
  return 0
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
