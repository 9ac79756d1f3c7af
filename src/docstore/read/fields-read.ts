/** Which fields of its documents a read looks at, if these are known. */
import type { CompiledFilter } from '../../query/filter.ts'
import type { CompiledSort } from '../../query/sort.ts'
import { FieldPicker } from '../documents/field-picker/field-picker.ts'

/** The paths of its matches that a reader looks at; undefined: all. */
export type PathsUsed = ReadonlySet<string> | undefined

export const usesNone: PathsUsed = new Set()

/** Determined for the first scan, because most reads find what they want otherwise. */
export class FieldsRead {
  readonly #filter: CompiledFilter
  readonly #sort: CompiledSort
  readonly #used: PathsUsed
  /** null when there is none. */
  #picker: FieldPicker | null | undefined
  #tester: FieldPicker | null | undefined

  constructor(filter: CompiledFilter, sort: CompiledSort, used: PathsUsed) {
    this.#filter = filter
    this.#sort = sort
    this.#used = used
  }

  /** Whether the paths are known. */
  get isKnown(): boolean {
    return this.#used !== undefined && this.#filter.paths() !== undefined
  }

  /** Decodes these fields; undefined if they are not known, or not few. */
  get picker(): FieldPicker | undefined {
    if (this.#picker === undefined) this.#picker = pickerOf(this.#paths())
    return worthwhile(this.#picker)
  }

  /** Decodes the fields that the filter looks at; undefined if they are not known, or not few. */
  get tester(): FieldPicker | undefined {
    if (this.#tester === undefined) this.#tester = pickerOf(this.#filter.paths())
    return worthwhile(this.#tester)
  }

  #paths(): ReadonlySet<string> | undefined {
    const returned = this.#used
    const tested = returned && this.#filter.paths()
    if (returned === undefined || tested === undefined) return undefined
    return new Set([...returned, ...tested, ...this.#sort.keys.map(({ path }) => path)])
  }
}

function pickerOf(paths: ReadonlySet<string> | undefined): FieldPicker | null {
  return paths === undefined ? null : new FieldPicker(paths)
}

function worthwhile(picker: FieldPicker | null): FieldPicker | undefined {
  return picker?.isWorthIt === true ? picker : undefined
}
