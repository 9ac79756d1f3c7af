/**
 * The scanner's WebAssembly instance: its typed functions and constants, over a memory of its own. For the layout and
 * the invariants of the memory see assembly/layout.ts.
 */
import { compileModule, type WasmMemory, webAssembly } from '../../model/web-assembly.ts'
import { scannerBase64 } from './scanner.generated.ts'

/** Constants exported by assembly/: locations are byte offsets, sizes are in bytes unless the name says otherwise. */
const constantNames = [
  'POWERS',
  'MAX_POWER',
  'WIDE_POWERS',
  'MAX_WIDE_POWER',
  'SIGNATURE',
  'SLOTS',
  'MAX_SLOTS',
  /** The document's bytes: input of scanning, output of writing. */
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
  /** Kinds of operations; texts and verbatim numbers consume their units, and numbers their doubles, in turn. */
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
  /** An operation is its kind and, from this bit on, the address of its key's piece. */
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
  /** The same for dates, in an area of 16 bytes per node. */
  'DATE_FACTS',
  'DATE_FACT_BYTES',
  /** Returned by scan() and scannedPairs() instead of a count. */
  'NOT_HANDLED',
  'UNKNOWN',
  /** Returned by write() when there are wrappers and a key that may look like one. */
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
  /** Forgets every node, and with them the segment's pairs and facts. */
  resetNodes(): void
  rootNode(): number
  /** @param key address of the key's bytes with `":` after them, `length` bytes in all; returns the node's address */
  addNode(parent: number, key: number, length: number, seedLo: number, seedHi: number): number
  /** The node whose text may be an ObjectId; 0 for none. */
  setIdNode(node: number): void

  /**
   * Begins a segment; 0 shards for fingerprints. @param buckets a power of two; each has room for 16 pairs, and at most
   * half of it is used
   */
  resetPairs(shards: number, rowsPerPair: number, buckets: number): void
  /** Forgets the slots of every fact. */
  resetFacts(): void
  /** Sets whether a fact without a slot is hashed; otherwise it is unknown. */
  setHashesFacts(value: boolean): void
  addDoublePair(lo: number, hi: number, node: number, tag: number, slot: number, value: number): void
  addTextPair(lo: number, hi: number, node: number, tag: number, slot: number, text: number, length: number): void

  /**
   * Makes the texts, numbers or dates on the node's path a column.
   * @param prefixLength bytes at COLUMN_PREFIXES + column · COLUMN_PREFIX_BYTES
   * @param templateLength bytes at COLUMN_TEMPLATES + column · COLUMN_TEMPLATE_BYTES
   */
  addColumn(node: number, type: number, column: number, prefixLength: number, templateLength: number): void

  /**
   * Scans the document of `length` bytes at INPUT + offset; leaves its signature at SIGNATURE and its slots at SLOTS.
   * @returns the number of the document's hashed pairs, or NOT_HANDLED, or UNKNOWN
   */
  scan(offset: number, length: number, flags: number): number
  /** As scan(), but preserves the bytes after the document. */
  scanAmong(offset: number, length: number, flags: number): number

  /**
   * Writes the document made of `count` words of operations to INPUT + start; with SCANNED, scans it on the way. TEXT
   * and VERBATIM are followed by their length in units, INT32 by its value.
   * @returns the document's end, relative to INPUT; NOT_PLAIN, or −1 when there is no room
   */
  write(start: number, count: number, flags: number): number
  /** What scan() would return for the document last written, if it was scanned. */
  scannedPairs(): number

  /** Number of slots of the last document, including repetitions. */
  slotCount(): number
  /** Number of values and sizes of the last document at TRACE, if tracing was requested. */
  tracedCount(): number
  /** Number of hashes of the last document at HASHES. */
  hashesLeft(): number
  /** Whether the document last scanned has wrappers, so that its bytes differ from JSON.stringify()'s output. */
  hasWrappers(): number
  /** Whether the slots include those of irregular keys. */
  isIrregular(): number

  /**
   * Counts the first `entries` values at TRACE into the sample of `size` pairs and `textBytes` bytes of text; leaves
   * the numbers of the document's pairs at SAMPLE_MEMBERS.
   * @param slotMask number of slots less 1; a power of two of slots, at least twice the resulting number of pairs
   * @param maxUnits longest text to count
   * @returns the sample's number of pairs
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
  /** Results of the last countSample(): pairs of the document, entries not counted, bytes of all texts. */
  sampledMembers(): number
  uncountedEntries(): number
  sampledTextBytes(): number
  /** Empties the slots and reinserts the sample's pairs. */
  rehashSample(size: number, slots: number): void
}

export interface ScannerModule {
  readonly functions: ScannerFunctions
  readonly constants: ScannerConstants
  readonly u8: Uint8Array<ArrayBuffer>
  readonly u32: Uint32Array<ArrayBuffer>
}

/** Everything in assembly/layout.ts fits into these pages. */
const memoryPages = 240

let compiled: object | undefined

/** Returns a scanner's instance and memory, or undefined without SIMD or room for another one. */
export function instantiateScanner(): ScannerModule | undefined {
  if (webAssembly === undefined) return undefined
  compiled ??= compileModule(scannerBase64)
  if (compiled === undefined) return undefined
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

/** Copied to plain numbers: reading an exported constant is a call. */
function readConstants(exports: object): ScannerConstants {
  const globals = exports as Readonly<Record<string, { readonly value: number }>>
  return Object.fromEntries(constantNames.map((name) => [name, globals[name]!.value])) as ScannerConstants
}

function reserve(pages: number): WasmMemory | undefined {
  if (webAssembly === undefined) return undefined
  try {
    return new webAssembly.Memory({ initial: pages, maximum: pages })
  } catch {
    // The address space is exhausted. Documents are then added as objects.
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
 * Returns the leading 128 bits of 10^power, truncated. From −27 to −1 one more, so that the product of a tie looks like
 * one: as in the paper (see assembly/number.ts).
 */
function leadingBits(power: number): bigint {
  const five = 5n ** BigInt(Math.abs(power))
  const length = BigInt(five.toString(2).length)
  if (power >= 0) return length <= 128n ? five << (128n - length) : five >> (length - 128n)
  // 2^(length + 127) / five has 128 bits: five is not a power of two.
  return (1n << (length + 127n)) / five + (power >= -27 ? 1n : 0n)
}
