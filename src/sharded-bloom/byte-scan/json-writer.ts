/**
 * Writes a document's record as UTF-8, in one walk that also checks that the bytes represent the document exactly:
 * JSON, with an ObjectId as `_id` by its digits, or JSON with wrappers of dates and ObjectIds.
 *
 * JSON.stringify examines every character of every key and value and concatenates strings, all of which an encoder
 * examines again. Instead, the walk here records what to write: keys by number, and texts concatenated without
 * examining them. WebAssembly then writes everything, and may find the document's pairs on the way (see scanner.ts).
 *
 * Invariants:
 * 1. The output is byte for byte what JSON.stringify and an encoder produce, applied to the wrapped document if there
 *    are wrappers.
 * 2. There is output exactly when jsonFormOf() knows a form, or would but for dates and ObjectIds and there are no `$`
 *    keys, provided that the document is not too large and its keys not too long.
 * 3. Memory is bounded: past `maxKeys`, or when there is no room for another key, all keys are forgotten.
 */
import { timeOf } from '../../model/date.ts'
import { objectIdDigits } from '../../model/object-id.ts'
import { objectIdMarkByte, wrappedMarkByte } from '../../model/record-marks.ts'
import { type Document, Type, typeOf } from '../../model/types.ts'
import { defaultFlattenLimits } from '../pairs/flatten.ts'
import { arePrototypesClean, hasPlainPrototype, isPlainNumber } from './plain.ts'
import { instantiateScanner, type ScannerModule } from './scanner-module.ts'

const { maxDepth } = defaultFlattenLimits
const maxKeys = 16_384
/** Maximum length, in bytes, of documents whose view is cached. */
const maxKeptView = 4096

/** A key below other keys, as in documents. */
interface KeyNode {
  readonly key: string
  /** The address of the key's bytes, shifted as in operations. */
  readonly piece: number
  readonly children: Map<string, KeyNode>
  /** The first key of the last object below this one, and the key that last followed this one. */
  first: KeyNode | undefined
  next: KeyNode | undefined
}

/** Why nothing was written: the document has other values, or there is no room. */
export type NotWritten = 'notPlain' | 'noRoom'

export class JsonWriter {
  readonly #module: ScannerModule
  readonly #u8: Uint8Array<ArrayBuffer>
  readonly #operations: Int32Array<ArrayBuffer>
  readonly #numbers: Float64Array<ArrayBuffer>
  readonly #units: Buffer
  readonly #encoder = new TextEncoder()
  /** Views of the first bytes of the output, by their length. */
  readonly #views: (Uint8Array | undefined)[] = new Array(maxKeptView + 1).fill(undefined)
  #root = createNode('', 0)
  #keyCount = 0
  #pieceEnd: number
  /** Counts calls, because a getter of the document may write another document. */
  #run = 0
  #count = 0
  #numberCount = 0
  #texts = ''
  #hasRoom = true
  /** Whether the `_id` is an ObjectId. */
  #hasObjectId = false
  /** Whether there are dates, or other ObjectIds. */
  #hasWrappers = false

  constructor(module: ScannerModule) {
    const { constants, u8 } = module
    this.#module = module
    this.#u8 = u8
    this.#operations = new Int32Array(u8.buffer, constants.OPERATIONS, constants.MAX_OPERATIONS)
    this.#numbers = new Float64Array(u8.buffer, constants.NUMBERS, constants.MAX_NUMBERS)
    this.#units = Buffer.from(u8.buffer, constants.TEXT_UNITS, 2 * constants.MAX_TEXT_UNITS)
    this.#pieceEnd = constants.PIECES
  }

  /**
   * Returns the document's record, after a mark if there are wrappers or its `_id` is an ObjectId. Valid until the next
   * call.
   * @param flags for scanning (see scanner-module.ts) what is written; 0 for not scanning
   * @throws what a getter of the document throws
   */
  write(document: Document, flags = 0): Uint8Array | NotWritten {
    if (!arePrototypesClean()) return 'notPlain'
    const run = ++this.#run
    this.#count = 0
    this.#numberCount = 0
    this.#texts = ''
    this.#hasRoom = true
    this.#hasObjectId = false
    this.#hasWrappers = false
    if (!hasPlainPrototype(document) || !this.#object(document, this.#root, 0))
      return this.#hasRoom ? 'notPlain' : 'noRoom'
    const { functions, constants } = this.#module
    const units = this.#texts.length
    const count = this.#count
    const isFull = count > constants.MAX_OPERATIONS || this.#numberCount > constants.MAX_NUMBERS
    if (isFull || units > constants.MAX_TEXT_UNITS || run !== this.#run) return 'noRoom'
    if (units > 0) this.#units.write(this.#texts, 0, 'utf16le')
    this.#texts = ''
    const mark = this.#hasWrappers ? wrappedMarkByte : this.#hasObjectId ? objectIdMarkByte : 0
    const end = functions.write(mark === 0 ? 0 : 1, count, this.#hasWrappers ? flags | constants.WRAPPED : flags)
    if (end < 0) return end === constants.NOT_PLAIN ? 'notPlain' : 'noRoom'
    if (mark !== 0) this.#u8[constants.INPUT] = mark
    return this.#viewOf(end)
  }

  #viewOf(length: number): Uint8Array {
    const from = this.#module.constants.INPUT
    if (length > maxKeptView) return this.#u8.subarray(from, from + length)
    const view = this.#views[length] ?? this.#u8.subarray(from, from + length)
    this.#views[length] = view
    return view
  }

  /** Numbers keys anew. Required when the module's nodes are reset, since the old pieces refer to them. */
  forgetKeys(): void {
    this.#root = createNode('', 0)
    this.#keyCount = 0
    this.#pieceEnd = this.#module.constants.PIECES
  }

  /** Records the contents of an object and its closing brace. */
  #object(object: Document, node: KeyNode, depth: number): boolean {
    if (depth >= maxDepth) return false
    let last: KeyNode | undefined
    let child = node.first
    // Object.prototype has nothing to enumerate, and no other prototype gets here.
    for (const key in object) {
      const value = object[key]
      if (value === undefined) continue
      if (child === undefined || child.key !== key) {
        child = this.#childOf(node, key)
        if (child === undefined) return false
        if (last === undefined) node.first = child
        else last.next = child
      }
      if (!this.#value(value, child, child.piece, depth)) return false
      last = child
      child = child.next
    }
    this.#operations[this.#count++] = this.#module.constants.END_OBJECT
    return true
  }

  #array(array: readonly unknown[], node: KeyNode, depth: number): boolean {
    if (Object.getPrototypeOf(array) !== Array.prototype || depth >= maxDepth) return false
    for (let i = 0; i < array.length; i++) if (!this.#value(array[i], node, 0, depth)) return false
    this.#operations[this.#count++] = this.#module.constants.END_ARRAY
    return true
  }

  /** @param depth of the enclosing container */
  #value(value: unknown, node: KeyNode, piece: number, depth: number): boolean {
    const { constants } = this.#module
    if (typeof value === 'string') {
      this.#operations[this.#count] = piece | constants.TEXT
      this.#operations[this.#count + 1] = value.length
      this.#count += 2
      this.#texts += value
      return true
    }
    if (typeof value === 'number') return this.#number(value, piece)
    if (value === null) this.#operations[this.#count++] = piece | constants.NULL
    else if (value === false) this.#operations[this.#count++] = piece | constants.FALSE
    else if (value === true) this.#operations[this.#count++] = piece | constants.TRUE
    else if (typeof value !== 'object') return false
    else if (Array.isArray(value)) {
      this.#operations[this.#count++] = piece | constants.BEGIN_ARRAY
      return this.#array(value, node, depth + 1)
    } else if (hasPlainPrototype(value)) {
      this.#operations[this.#count++] = piece | constants.BEGIN_OBJECT
      return this.#object(value, node, depth + 1)
    } else return this.#instance(value, piece, depth === 0 && node.key === '_id')
    return true
  }

  /** Records an instance of a class: a date or an ObjectId. */
  #instance(value: object, piece: number, isId: boolean): boolean {
    const { constants } = this.#module
    const type = typeOf(value)
    if (type === Type.date) {
      const time = timeOf(value)
      if (Number.isNaN(time)) return false
      this.#operations[this.#count++] = piece | constants.DATE
      this.#numbers[this.#numberCount++] = time
      this.#hasWrappers = true
      return true
    }
    if (type !== Type.objectId) return false
    this.#operations[this.#count++] = piece | constants.OBJECT_ID_TEXT
    this.#texts += objectIdDigits(value)
    if (isId && piece !== 0) this.#hasObjectId = true
    else this.#hasWrappers = true
    return true
  }

  #number(value: number, piece: number): boolean {
    if (!isPlainNumber(value)) return false
    const { constants } = this.#module
    const integer = value | 0
    if (integer === value) {
      this.#operations[this.#count] = piece | constants.INT32
      this.#operations[this.#count + 1] = integer
      this.#count += 2
    } else if (Number.isSafeInteger(value)) {
      this.#operations[this.#count++] = piece | constants.INTEGER
      this.#numbers[this.#numberCount++] = value
    } else {
      const text = String(value)
      this.#numbers[this.#numberCount++] = value
      this.#operations[this.#count] = piece | constants.VERBATIM
      this.#operations[this.#count + 1] = text.length
      this.#count += 2
      this.#texts += text
    }
    return true
  }

  /** Returns undefined for a key that cannot be stored, or is too long. */
  #childOf(node: KeyNode, key: string): KeyNode | undefined {
    const known = node.children.get(key)
    if (known !== undefined) return known
    if (key === '__proto__') return undefined
    const { PIECES_END, PIECE_BYTES, MAX_PIECE_BYTES, PIECE_SHIFT } = this.#module.constants
    const bytes = this.#encoder.encode(`${JSON.stringify(key)}:`)
    const room = PIECE_BYTES + bytes.length
    if (room > MAX_PIECE_BYTES || this.#keyCount >= maxKeys || this.#pieceEnd + room + 16 > PIECES_END) {
      this.#hasRoom = false
      // Takes effect from the next document on: operations recorded so far refer to the current pieces.
      if (room <= MAX_PIECE_BYTES) this.forgetKeys()
      return undefined
    }
    const address = this.#pieceEnd
    this.#u8.fill(0, address, address + PIECE_BYTES)
    this.#u8[address] = bytes.length
    this.#u8[address + 1] = bytes.length >>> 8
    this.#u8.set(bytes, address + PIECE_BYTES)
    this.#pieceEnd += room
    this.#keyCount++
    const child = createNode(key, address << PIECE_SHIFT)
    node.children.set(key, child)
    return child
  }
}

function createNode(key: string, piece: number): KeyNode {
  return { key, piece, children: new Map(), first: undefined, next: undefined }
}

/** Returns undefined when texts cannot be passed to WebAssembly at once, or there is no module. */
export function createWriter(module: () => ScannerModule | undefined): JsonWriter | undefined {
  const found = typeof Buffer === 'function' ? module() : undefined
  return found && new JsonWriter(found)
}

let writer: JsonWriter | undefined
let isTried = false

/** The writer for documents that are not scanned; undefined when texts cannot be passed to WebAssembly at once. */
export function jsonWriter(): JsonWriter | undefined {
  if (isTried) return writer
  isTried = true
  writer = createWriter(instantiateScanner)
  return writer
}
