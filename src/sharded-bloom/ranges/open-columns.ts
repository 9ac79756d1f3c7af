/**
 * The columns of the open segment, and how a document's values enter them.
 *
 * Invariant: a document has the same keys whether added as an object or as bytes: a single value of the column's type
 * is a key, anything else of that type makes the document an outsider.
 */
import type { RowMemory } from '../../bloom/kernels/index.ts'
import { topLevelKey } from '../../model/path.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import type { PathNode } from '../pairs/path-table.ts'
import type { ColumnSpec } from './column-spec.ts'
import { OpenColumn } from './open-column.ts'
import { textKey } from './range-key.ts'

/** Tags below this may have columns. */
const tags = 32

export class OpenColumns {
  readonly #columns: readonly OpenColumn[]
  readonly #topLevelKeys: readonly string[]
  /** For each path with columns: the column of each tag, −1 for none. */
  readonly #byPath = new Map<string, Int8Array>()
  /** For the document being added: the number of values met in each column, and the last one's key. */
  readonly #counts: Uint8Array
  readonly #keys: Float64Array
  #restore: ((columns: readonly OpenColumn[]) => void) | undefined

  constructor(memory: RowMemory, segmentDocuments: number, specs: readonly ColumnSpec[]) {
    this.#columns = specs.map((spec) => new OpenColumn(memory, segmentDocuments, spec))
    this.#topLevelKeys = specs.map(({ path }) => topLevelKey(path))
    this.#counts = new Uint8Array(specs.length)
    this.#keys = new Float64Array(specs.length)
    specs.forEach(({ path, type }, i) => {
      const byTag = this.#byPath.get(path) ?? new Int8Array(tags).fill(-1)
      byTag[type] = i
      this.#byPath.set(path, byTag)
    })
  }

  get all(): readonly OpenColumn[] {
    this.#restoreIfPending()
    return this.#columns
  }

  /** Declares that the columns already hold keys, which `restore` adds when a column is first touched. */
  restoreLater(restore: (columns: readonly OpenColumn[]) => void): void {
    this.#restore = restore
  }

  find(path: string, type: number): OpenColumn | undefined {
    const column = this.#byPath.get(path)?.[type] ?? -1
    return column < 0 ? undefined : this.all[column]
  }

  add(position: number, flat: FlatDocument): void {
    if (this.#columns.length === 0) return
    const { nodes, tags, keys, count } = flat
    for (let i = 0; i < count; i++) {
      const column = this.#columnsOf(nodes[i]!)?.[tags[i]!] ?? -1
      if (column < 0) continue
      const key = keys[i]!
      this.#keys[column] = typeof key === 'number' ? key : textKey(key, this.#columns[column]!.spec)
      if (this.#counts[column]! < 2) this.#counts[column]!++
    }
    this.addKeys(position, this.#keys, this.#counts, flat.irregularKeys)
    this.#counts.fill(0)
  }

  /**
   * @param keys for each column the last key met in the document
   * @param counts how many were met; 2 means two or more
   * @param irregularKeys top-level keys below which the document is irregular
   */
  addKeys(position: number, keys: Float64Array, counts: Uint8Array, irregularKeys: readonly string[]): void {
    this.#restoreIfPending()
    for (let i = 0; i < this.#columns.length; i++) {
      const count = counts[i]!
      if (count === 0) continue
      const key = keys[i]!
      const isIrregular = irregularKeys.length > 0 && irregularKeys.includes(this.#topLevelKeys[i]!)
      if (count === 1 && !Number.isNaN(key) && !isIrregular) this.#columns[i]!.set(position, key)
      else this.#columns[i]!.outside.add(position)
    }
  }

  free(): void {
    for (const column of this.#columns) column.free()
  }

  #restoreIfPending(): void {
    const restore = this.#restore
    if (restore === undefined) return
    this.#restore = undefined
    restore(this.#columns)
  }

  #columnsOf(node: PathNode): Int8Array | undefined {
    if (node.columnsOf !== this) {
      node.columnsOf = this
      node.columns = this.#byPath.get(node.path)
    }
    return node.columns
  }
}
