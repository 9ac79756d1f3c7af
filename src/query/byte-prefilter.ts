/**
 * Compiles a filter to a test of a stored document's bytes that rules out most documents before they are decoded.
 *
 * Invariants:
 * 1. false means that the document does not match; true means nothing. The text test and the matcher still decide.
 * 2. Only records (see prefilter.ts) without a backslash are ruled out.
 *
 * Soundness: a condition takes part if only strings that contain one of some printable ASCII literals pass it, or
 * stored patterns whose source contains one. JSON spells such a literal verbatim, or with escapes, which contain a
 * backslash: imported lines keep the escapes they came with.
 */
import { objectIdMarkByte, wrappedMarkByte } from '../model/record-marks.ts'
import type { Filter, Predicate } from './ast.ts'
import type { Pattern } from './pattern.ts'

/** A test for one read; it caches search results by block. */
export interface ByteTest {
  /**
   * Whether the record in bytes[start, end) may match.
   * @param block the block that contains the record, if its other records are of interest, too
   */
  mayMatch(bytes: Uint8Array, start: number, end: number, block?: ByteBlock): boolean
  /** Whether any of the block's records may match. Its bytes may change afterwards. */
  mayHold(block: ByteBlock): boolean
}

/** Adjacent records in bytes[start, entriesEnd), with their keys in between. */
export interface ByteBlock {
  readonly bytes: Uint8Array
  readonly start: number
  readonly entriesEnd: number
  /** Cached facts about these bytes; 0 when nothing is known. */
  marks: number
}

/** Facts that do not depend on the filter: whether it is known if there is a backslash, and whether there is one. */
const backslashKnown = 1
const backslashFound = 2

/** Each costs a separate search. */
const maxLiterals = 4
const minLiteralBytes = 2
/** Shorter tails occur in every other document. */
const minTailBytes = 4
/** The most frequent characters of JSON, most frequent first. */
const frequent = '"et:sani,rol_0u d1c2f7hp4m398gw6y5bvkx'
const printable = /^[ !#-[\]-~]+$/

/**
 * @returns a factory of tests, each for one read; undefined when no literal has to occur
 * @example
 * const test = compileByteTest(parsed)?.() // of { text: /thor/ }
 * test?.mayMatch(Buffer.from('{"text":"odin"}'), 0, 15) // false
 */
export function compileByteTest(filter: Filter): (() => ByteTest) | undefined {
  const literals = literalsOf(filter)
  return literals && (() => new LiteralTest(literals))
}

class LiteralTest implements ByteTest {
  readonly #literals: readonly Buffer[]
  /** The block last searched, and the needles that occur in it: all others occur in none of its records. */
  #block: ByteBlock | undefined
  #present: readonly Buffer[]

  constructor(literals: readonly string[]) {
    this.#literals = literals.map((literal) => Buffer.from(rareTail(literal), 'latin1'))
    this.#present = [...this.#literals, backslash]
  }

  mayMatch(bytes: Uint8Array, start: number, end: number, block?: ByteBlock): boolean {
    if (block !== this.#block) {
      this.#block = block
      this.#present = this.#presentIn(block)
    }
    if (!isRecord(bytes, start, end)) return true
    return this.#present.length > 0 && occursAny(this.#present, window(bytes, start, end))
  }

  mayHold(block: ByteBlock): boolean {
    if (hasBackslash(block)) return true
    return block === this.#block ? this.#present.length > 0 : occursAny(this.#literals, bytesOf(block))
  }

  #presentIn(block: ByteBlock | undefined): readonly Buffer[] {
    if (block === undefined) return [...this.#literals, backslash]
    const searched = bytesOf(block)
    const open = this.#literals.filter((literal) => searched.includes(literal))
    if (hasBackslash(block)) open.push(backslash)
    return open
  }
}

const backslash = Buffer.from('\\', 'latin1')

/** Searches the block at most once. */
function hasBackslash(block: ByteBlock): boolean {
  if ((block.marks & backslashKnown) === 0)
    block.marks |= bytesOf(block).includes(backslash) ? backslashKnown | backslashFound : backslashKnown
  return (block.marks & backslashFound) !== 0
}

function occursAny(needles: readonly Buffer[], searched: Buffer): boolean {
  for (const needle of needles) if (searched.includes(needle)) return true
  return false
}

function bytesOf({ bytes, start, entriesEnd }: ByteBlock): Buffer {
  return window(bytes, start, entriesEnd)
}

/** A view of only the bytes to search: a scan fills the rest of its buffer later. */
function window(bytes: Uint8Array, start: number, end: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
}

/** As in prefilter.ts, on bytes. */
function isRecord(bytes: Uint8Array, start: number, end: number): boolean {
  const mark = bytes[start]
  const brace = mark === wrappedMarkByte || mark === objectIdMarkByte ? start + 1 : start
  return brace < end && bytes[brace] === 0x7b && bytes[end - 1] === 0x7d
}

/** Returns literals of which every match contains at least one; undefined when there are none known. */
function literalsOf(filter: Filter): readonly string[] | undefined {
  switch (filter.kind) {
    case 'and':
      return filter.children.map(literalsOf).reduce(rarer, undefined)
    case 'or':
      return anyOf(filter.children.map(literalsOf))
    case 'leaf':
      return filter.leaf.kind === 'field' ? literalsOfPredicate(filter.leaf.predicate) : undefined
    case 'not':
    case 'never':
      return undefined
  }
}

function literalsOfPredicate(predicate: Predicate): readonly string[] | undefined {
  switch (predicate.kind) {
    case 'equal':
      return literalsOfString(predicate.value)
    case 'in':
      if (predicate.values.length + predicate.patterns.length > maxLiterals) return undefined
      return anyOf([...predicate.values.map(literalsOfString), ...predicate.patterns.map(literalsOfPattern)])
    case 'regex':
      return literalsOfPattern(predicate.pattern)
    default:
      return undefined
  }
}

function literalsOfString(value: unknown): readonly string[] | undefined {
  return typeof value === 'string' && printable.test(value) ? [`"${value}"`] : undefined
}

/** The longest run of literal characters, for a pattern without groups, classes, escapes and alternatives. */
function literalsOfPattern(pattern: Pattern): readonly string[] | undefined {
  const { source, ignoreCase } = pattern.expression
  if (ignoreCase || /[|()[\]{}\\]/.test(source)) return undefined
  // An optional or lazily repeated character ends a run, and so does one that is not printable ASCII.
  const runs = source.replace(/[\s\S][*?]\??/g, '.').split(/[.^$+*?"]|[^ -~]/)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  // A stored pattern is identified by its source, which with option x differs from that of the expression.
  const isInSource = pattern.source.includes(longest)
  return longest.length >= minLiteralBytes && isInSource ? [longest] : undefined
}

function anyOf(alternatives: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const literals: string[] = []
  for (const alternative of alternatives) {
    if (alternative === undefined) return undefined
    literals.push(...alternative)
  }
  return literals.length > 0 && literals.length <= maxLiterals ? literals : undefined
}

/** Of two conditions that both hold, returns the one with longer literals. */
function rarer(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return shortest(b) > shortest(a) ? b : a
}

function shortest(literals: readonly string[]): number {
  return Math.min(...literals.map(({ length }) => length))
}

/**
 * Returns the part of a literal to search for: from its rarest character on. Node.js jumps between occurrences of the
 * first byte: over 94 MB of tweets, `theater` costs 86 ms and `heater` 16 (measured).
 */
function rareTail(literal: string): string {
  let start = 0
  let rank = 0
  for (let i = 0; i <= literal.length - minTailBytes; i++) {
    const found = frequent.indexOf(literal[i]!)
    if (found < 0) return literal.slice(i)
    if (found > rank) {
      rank = found
      start = i
    }
  }
  return literal.slice(start)
}
