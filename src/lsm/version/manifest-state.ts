/**
 * The state that the edits of a manifest add up to.
 *
 * Invariants:
 * 1. A state never changes; applying an edit creates a new one, or fails if the edit does not fit.
 * 2. snapshotEdit(state), applied to the empty state, reproduces the state.
 */
import { corruption, notSupported, type Place } from '../errors.ts'
import {
  type CompactionPointer,
  comparatorName,
  type ExtractorIdentity,
  formatVersion,
  levelCount,
  type VersionEdit
} from '../format/version-edit.ts'
import { compareInLevel, findOverlap } from './level.ts'
import type { TableMeta } from './table-meta.ts'
import type { Levels } from './version.ts'

export interface ManifestState {
  readonly levels: Levels
  /** Undefined before the first edit. */
  readonly comparator: string | undefined
  readonly extractor: ExtractorIdentity | undefined
  /** The oldest log that recovery has to read, along with all later ones. 0: all there are. */
  readonly logNumber: number
  /** The greatest sequence number known to the manifest; the log continues after it. */
  readonly lastSequence: number
  readonly nextFileNumber: number
  /** Keyed by pointerName(). */
  readonly pointers: ReadonlyMap<string, CompactionPointer>
}

export const emptyState: ManifestState = {
  levels: Array.from({ length: levelCount }, () => []),
  comparator: undefined,
  extractor: undefined,
  logNumber: 0,
  lastSequence: 0,
  nextFileNumber: 1,
  pointers: new Map()
}

/** Applies one or more edits to a state, sorting the levels only once. */
export class StateBuilder {
  readonly #base: ManifestState
  /** Tables by number, for each level that an edit has touched. */
  readonly #touched = new Map<number, Map<number, TableMeta>>()
  readonly #pointers: Map<string, CompactionPointer>
  #comparator: string | undefined
  #extractor: ExtractorIdentity | undefined
  #logNumber: number
  #lastSequence: number
  #nextFileNumber: number

  constructor(base: ManifestState = emptyState) {
    this.#base = base
    this.#pointers = new Map(base.pointers)
    this.#comparator = base.comparator
    this.#extractor = base.extractor
    this.#logNumber = base.logNumber
    this.#lastSequence = base.lastSequence
    this.#nextFileNumber = base.nextFileNumber
  }

  /**
   * @param place of the edit, for errors
   * @throws LEVEL_CORRUPTION if the edit does not fit the state; the builder is then unusable
   */
  apply(edit: VersionEdit, place: Place): void {
    if (edit.comparator !== undefined) {
      if (edit.comparator !== comparatorName)
        throw notSupported(`${place.path} uses the key order ${edit.comparator}, which petaldb does not support`)
      this.#comparator = edit.comparator
    }
    if (this.#comparator === undefined) throw corruption('the first edit does not specify the key order', place)
    this.#extractor = edit.extractor ?? this.#extractor
    if (edit.logNumber !== undefined) {
      if (edit.logNumber < this.#logNumber) {
        throw corruption(`log number ${edit.logNumber} after ${this.#logNumber}`, place)
      }
      this.#logNumber = edit.logNumber
    }
    this.#lastSequence = Math.max(this.#lastSequence, edit.lastSequence ?? 0)
    this.#nextFileNumber = Math.max(this.#nextFileNumber, edit.nextFileNumber ?? 0)
    for (const pointer of edit.compactionPointers ?? []) {
      this.#pointers.set(pointerName(pointer.level, pointer.partition), pointer)
    }
    // Before the new tables: a moved table is deleted from one level and new in another.
    for (const { level, number } of edit.deletedTables ?? []) {
      if (!this.#tables(level).delete(number))
        throw corruption(`the deleted table ${number} is not in level ${level}`, place)
    }
    for (const { level, table } of edit.newTables ?? []) {
      const tables = this.#tables(level)
      if (tables.has(table.number)) throw corruption(`table ${table.number} is already in level ${level}`, place)
      tables.set(table.number, table)
      this.#lastSequence = Math.max(this.#lastSequence, table.largestSequence)
      this.#nextFileNumber = Math.max(this.#nextFileNumber, table.number + 1)
    }
  }

  /** @throws LEVEL_CORRUPTION if tables below level 0 overlap */
  build(place: Place): ManifestState {
    const levels = this.#base.levels.map((unchanged, level) => {
      const touched = this.#touched.get(level)
      if (touched === undefined) return unchanged
      const tables = [...touched.values()].sort((a, b) => compareInLevel(level, a, b))
      const overlap = level === 0 ? undefined : findOverlap(tables)
      if (overlap === undefined) return tables
      throw corruption(`tables ${overlap[0].number} and ${overlap[1].number} of level ${level} overlap`, place)
    })
    return {
      levels,
      comparator: this.#comparator,
      extractor: this.#extractor,
      logNumber: this.#logNumber,
      lastSequence: this.#lastSequence,
      nextFileNumber: this.#nextFileNumber,
      pointers: this.#pointers
    }
  }

  #tables(level: number): Map<number, TableMeta> {
    let tables = this.#touched.get(level)
    if (tables === undefined) {
      tables = new Map(this.#base.levels[level]?.map((table) => [table.number, table]))
      this.#touched.set(level, tables)
    }
    return tables
  }
}

/** The state as a single edit: the start of a manifest. */
export function snapshotEdit(state: ManifestState): VersionEdit {
  return {
    formatVersion,
    comparator: comparatorName,
    ...(state.extractor === undefined ? {} : { extractor: state.extractor }),
    logNumber: state.logNumber,
    lastSequence: state.lastSequence,
    nextFileNumber: state.nextFileNumber,
    // Pointers into empty levels are useless.
    compactionPointers: [...state.pointers.values()].filter(({ level }) => state.levels[level]?.length),
    newTables: state.levels.flatMap((tables, level) => tables.map((table) => ({ level, table })))
  }
}

export function pointerName(level: number, partition: Uint8Array): string {
  return `${level}/${Buffer.from(partition).toString('latin1')}`
}
