/**
 * The scanner's WebAssembly instance: its functions and constants, typed, over a memory of its own. Layout and invariants of the memory
 * stand in assembly/layout.ts.
 */
import { decodeCode, type WasmMemory, webAssembly } from '../../bloom/kernels/web-assembly.ts'
import { scannerBase64 } from './scanner.generated.ts'

/** What assembly/ exports as constants: places are byte offsets, sizes bytes unless the name says otherwise. */
const constantNames = [
  'POWERS',
  'MAX_POWER',
  'WIDE_POWERS',
  'MAX_WIDE_POWER',
  'SIGNATURE',
  'SLOTS',
  'MAX_SLOTS',
  /** The document's bytes: in for scanning, out of writing. */
  'INPUT',
  'MAX_INPUT',
  'PIECES',
  'PIECES_END',
  'PIECE_BYTES',
  'MAX_PIECE_BYTES',
  'OPERATIONS',
  'MAX_OPERATIONS',
  'NUMBERS',
  'MAX_NUMBERS',
  'TEXT_UNITS',
  'MAX_TEXT_UNITS',
  /** Kinds of operations; a text, a number and what is written verbatim take their units, or numbers, in turn. */
  'TEXT',
  'INT32',
  'INTEGER',
  'VERBATIM',
  'NULL',
  'FALSE',
  'TRUE',
  'BEGIN_OBJECT',
  'BEGIN_ARRAY',
  'END_OBJECT',
  'END_ARRAY',
  'DATE',
  'OBJECT_ID_TEXT',
  /** An operation is its kind and, from this bit on, the address of what its key is written as. */
  'PIECE_SHIFT',
  'KEYS',
  'MAX_KEY_BYTES',
  'MAX_NODES',
  'TEXTS',
  'MAX_TEXT_BYTES',
  'MAX_PAIRS',
  'HASHES',
  'MAX_HASHES',
  'COLUMN_KEYS',
  'COLUMN_COUNTS',
  'MAX_COLUMNS',
  'COLUMN_PREFIXES',
  'COLUMN_PREFIX_BYTES',
  'COLUMN_TEMPLATES',
  'COLUMN_TEMPLATE_BYTES',
  /** Offset in a node of two u32 per type & 7: the slots of TYPE and EXISTS, all ones for none. */
  'FACTS',
  /** Offset in a node of the slot for irregular documents, u32, all ones for none. */
  'IRREGULAR',
  /** Flag of a tag: the text is UTF-16 units, not ASCII bytes. */
  'WIDE',
  /** Offsets of the same, of dates: 16 bytes for each node. */
  'DATE_FACTS',
  'DATE_FACT_BYTES',
  /** What scan() and scannedPairs() return in place of a count. */
  'NOT_HANDLED',
  'UNKNOWN',
  /** What write() returns where a key may look like a wrapper's, and there are wrappers. */
  'NOT_PLAIN',
  /** Flags of scan() and write(): see assembly/document.ts. */
  'OBJECT_ID',
  'EXTENDED_JSON',
  'TRACED',
  'SCANNED',
  'WRAPPED',
  'NODES',
  'NODE_BYTES',
  'TRACE',
  'TRACE_BYTES',
  'MAX_TRACED',
  'SAMPLE_MEMBERS',
  'MAX_SAMPLE_MEMBERS',
  'MAX_SAMPLE_PAIRS',
  'SAMPLE_SLOTS',
  'SAMPLE_PAIRS',
  'SAMPLE_VALUES',
  'SAMPLE_TEXTS',
  'MAX_SAMPLE_TEXT_BYTES'
] as const

export type ScannerConstants = Readonly<Record<(typeof constantNames)[number], number>>

export interface ScannerFunctions {
  /** Forgets every node; the pairs and facts of the segment with them. */
  resetNodes(): void
  rootNode(): number
  /** @param key address of the key's bytes with `":` behind them, `length` bytes in all; returns the node's address */
  addNode(parent: number, key: number, length: number, seedLo: number, seedHi: number): number
  /** The node whose text may be an ObjectId; 0 for none. */
  setIdNode(node: number): void

  /** Begins a segment; of 0 shards where it has fingerprints. @param buckets a power of two; each has room for 16 pairs, and they are half full at most */
  resetPairs(shards: number, rowsPerPair: number, buckets: number): void
  /** Forgets the slots of every fact. */
  resetFacts(): void
  /** Whether a fact without a slot is hashed; otherwise it is unknown. */
  setHashesFacts(value: boolean): void
  addDoublePair(lo: number, hi: number, node: number, tag: number, slot: number, value: number): void
  addTextPair(lo: number, hi: number, node: number, tag: number, slot: number, text: number, length: number): void

  /**
   * The texts, numbers or dates on the node's path are a column.
   * @param prefixLength bytes at COLUMN_PREFIXES + column · COLUMN_PREFIX_BYTES
   * @param templateLength bytes at COLUMN_TEMPLATES + column · COLUMN_TEMPLATE_BYTES
   */
  addColumn(node: number, type: number, column: number, prefixLength: number, templateLength: number): void

  /**
   * Scans the document of `length` bytes at INPUT + offset; leaves its signature at SIGNATURE and its slots at SLOTS.
   * @returns hashed pairs of the document, or NOT_HANDLED, or UNKNOWN
   */
  scan(offset: number, length: number, flags: number): number
  /** As scan(), and leaves what stands behind the document. */
  scanAmong(offset: number, length: number, flags: number): number

  /**
   * Writes the document that `count` words of operations make to INPUT + start; with SCANNED it is scanned on the way. TEXT and
   * VERBATIM are followed by their length in units, INT32 by its value.
   * @returns where the document ends, from INPUT; NOT_PLAIN, or −1 when there is no room
   */
  write(start: number, count: number, flags: number): number
  /** What scan() would return for the document that was written last, if it was scanned. */
  scannedPairs(): number

  /** Slots of the last document, some more than once. */
  slotCount(): number
  /** Values and sizes that the last document left at TRACE, if that was asked for. */
  tracedCount(): number
  /** Hashes that the last document left at HASHES. */
  hashesLeft(): number
  /** Whether the document that was scanned last has wrappers: other bytes than JSON.stringify() makes of it. */
  hasWrappers(): number
  /** Whether slots of irregular keys are among them. */
  isIrregular(): number

  /**
   * Counts the first `entries` values at TRACE into the sample of `size` pairs and `textBytes` bytes of text; leaves the
   * numbers of the document's pairs at SAMPLE_MEMBERS.
   * @param slotMask slots less 1; a power of two of slots, twice as many as pairs will be
   * @param maxUnits of a text that is counted
   * @returns the sample's pairs
   */
  countSample(
    entries: number,
    document: number,
    size: number,
    slotMask: number,
    textBytes: number,
    maxMembers: number,
    maxUnits: number
  ): number
  /** What the last call of countSample() came to: pairs of the document, entries not counted, bytes of all texts. */
  sampledMembers(): number
  uncountedEntries(): number
  sampledTextBytes(): number
  /** Empties the slots and puts the sample's pairs in their places. */
  rehashSample(size: number, slots: number): void
}

export interface ScannerModule {
  readonly functions: ScannerFunctions
  readonly constants: ScannerConstants
  readonly u8: Uint8Array<ArrayBuffer>
  readonly u32: Uint32Array<ArrayBuffer>
}

/** Everything in assembly/layout.ts ends below. */
const memoryPages = 240

let compiled: object | undefined

/** A scanner's instance and memory, or undefined where there is no room for another one. */
export function instantiateScanner(): ScannerModule | undefined {
  if (webAssembly === undefined) return undefined
  compiled ??= new webAssembly.Module(decodeCode(scannerBase64))
  const memory = reserve(memoryPages)
  if (memory === undefined) return undefined
  const { exports } = new webAssembly.Instance(compiled, { env: { memory } })
  const constants = readConstants(exports)
  fillPowers(constants, memory)
  return {
    functions: exports as ScannerFunctions,
    constants,
    u8: new Uint8Array(memory.buffer),
    u32: new Uint32Array(memory.buffer)
  }
}

/** Numbers of their own: reading an exported constant is a call. */
function readConstants(exports: object): ScannerConstants {
  const globals = exports as Readonly<Record<string, { readonly value: number }>>
  return Object.fromEntries(constantNames.map((name) => [name, globals[name]!.value])) as ScannerConstants
}

function reserve(pages: number): WasmMemory | undefined {
  if (webAssembly === undefined) return undefined
  try {
    return new webAssembly.Memory({ initial: pages, maximum: pages })
  } catch {
    // The address space is used up. Documents then take the way of objects.
    return undefined
  }
}

function fillPowers(constants: ScannerConstants, memory: WasmMemory): void {
  const powers = new Float64Array(memory.buffer, constants.POWERS, constants.MAX_POWER + 1)
  for (let i = 0; i < powers.length; i++) powers[i] = Number(`1e${i}`)
  const limit = constants.MAX_WIDE_POWER
  const words = new BigUint64Array(memory.buffer, constants.WIDE_POWERS, 2 * (2 * limit + 1))
  for (let power = -limit; power <= limit; power++) {
    const bits = leadingBits(power)
    words[2 * (power + limit)] = bits & 0xffff_ffff_ffff_ffffn
    words[2 * (power + limit) + 1] = bits >> 64n
  }
}

/**
 * The leading 128 bits of 10^power, cut off. From −27 to −1 one more, so that a product that is a tie looks like one: as
 * in the paper (see assembly/number.ts).
 */
function leadingBits(power: number): bigint {
  const five = 5n ** BigInt(Math.abs(power))
  const length = BigInt(five.toString(2).length)
  if (power >= 0) return length <= 128n ? five << (128n - length) : five >> (length - 128n)
  // 2^(length + 127) / five has 128 bits: five is no power of two.
  return (1n << (length + 127n)) / five + (power >= -27 ? 1n : 0n)
}
