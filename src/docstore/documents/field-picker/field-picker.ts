/**
 * Decodes only some fields of stored documents: finding where fields begin and end takes a fraction of the time of
 * parsing them.
 *
 * Invariants:
 * 1. The result has exactly those top-level fields of the document that were asked for, or within which something was, in
 *    the same order; so have objects in them. Everything else in it, such as an array, is whole.
 * 2. It is a JSON parser that reads them: damage within them is found as by decodeRecord().
 */
import { topLevelKey } from '../../../model/path.ts'
import { objectIdMarkByte, wrappedMarkByte } from '../../../model/record-marks.ts'
import type { Document } from '../../../model/types.ts'
import { decodeRecord } from '../record.ts'
import { encodeNames, type FieldNames, pickerKernel } from './picker-kernel.ts'

/** After this many documents, it is known whether picking pays. */
const sampleDocuments = 64
/** If more than this share of the bytes is wanted, parsing all of them is faster. */
const maxShare = 0.75
/** What is wanted of objects nested deeper is not told apart. */
const maxDepth = 100

export class FieldPicker {
  /** undefined: too many. */
  readonly #names: Uint8Array | undefined
  readonly #wantsId: boolean
  /** Length of the JSON that was decoded last. */
  characters = 0
  #documents = 0
  #bytesSeen = 0
  #charactersPicked = 0

  /** @param paths as in a filter */
  constructor(paths: ReadonlySet<string>) {
    this.#names = encodeNames(namesOf([...paths].map((path) => path.split('.', maxDepth))))
    this.#wantsId = [...paths].some((path) => topLevelKey(path) === '_id')
  }

  /** False once it is known that decoding whole documents is faster. */
  get isWorthIt(): boolean {
    if (this.#names === undefined) return false
    return this.#documents < sampleDocuments || this.#charactersPicked <= maxShare * this.#bytesSeen
  }

  /**
   * Decodes the wanted parts of the record in bytes[start, end).
   * @returns undefined for a record that has to be decoded as a whole: damaged, or with unusual keys
   * @throws PetalError DataCorruption
   * @example
   * const record = Buffer.from('{"_id":1,"text":"long","a":{"b":[2],"c":3}}')
   * new FieldPicker(new Set(['a.b', 'other'])).decode(record, 0, record.length) // { a: { b: [2] } }
   */
  decode(bytes: Uint8Array, start: number, end: number): Document | undefined {
    const mark = bytes[start]!
    const isMarked = mark === wrappedMarkByte || mark === objectIdMarkByte
    const json = this.#names && pickerKernel()?.pick(bytes, isMarked ? start + 1 : start, end, this.#names)
    if (json === undefined) return undefined
    this.#documents++
    this.#bytesSeen += end - start
    this.characters = json.length
    this.#charactersPicked += json.length
    const needsMark = mark === wrappedMarkByte || (mark === objectIdMarkByte && this.#wantsId)
    return decodeRecord(needsMark ? String.fromCharCode(mark) + json : json)
  }
}

function namesOf(paths: readonly (readonly string[])[]): FieldNames {
  const names = new Map<string, FieldNames | undefined>()
  for (const field of new Set(paths.map(([first]) => first!))) {
    const rests = paths.filter(([first]) => first === field).map(([, ...rest]) => rest)
    const isWhole = rests.some(({ length }) => length === 0)
    names.set(field, isWhole ? undefined : namesOf(rests))
  }
  return names
}
