/** Which fields of its documents a read looks at, if these are known. */
import type { CompiledFilter } from '../../query/filter.ts'
import type { CompiledSort } from '../../query/sort.ts'
import { FieldPicker } from '../documents/field-picker/field-picker.ts'

/** The paths of its matches that a reader looks at; undefined: all. */
export type PathsUsed = () => ReadonlySet<string> | undefined

export const usesAll: PathsUsed = () => undefined
export const usesNone: PathsUsed = () => new Set()

/** Determined for the first scan, because most reads find what they want otherwise. */
export class FieldsRead {
  readonly #filter: CompiledFilter
  readonly #sort: CompiledSort
  readonly #used: PathsUsed
  /** null when there is none. */
  #picker: FieldPicker | null | undefined

  constructor(filter: CompiledFilter, sort: CompiledSort, used: PathsUsed) {
    this.#filter = filter
    this.#sort = sort
    this.#used = used
  }

  /** Whether the paths are known. */
  get isKnown(): boolean {
    return this.#used() !== undefined && this.#filter.paths() !== undefined
  }

  /** Decodes these fields; undefined if they are not known, or not few. */
  get picker(): FieldPicker | undefined {
    if (this.#picker === undefined) this.#picker = this.#makePicker() ?? null
    return this.#picker?.isWorthIt === true ? this.#picker : undefined
  }

  #makePicker(): FieldPicker | undefined {
    const returned = this.#used()
    const tested = returned && this.#filter.paths()
    if (returned === undefined || tested === undefined) return undefined
    return new FieldPicker(new Set([...returned, ...tested, ...this.#sort.keys.map(({ path }) => path)]))
  }
}
