/** Queries by value of an open store; each captures a read view when it starts and releases it at its end. */
import type { Engine } from '../engine/engine.ts'
import type { EngineReadView } from '../engine/engine-read-view.ts'
import type { Moment } from '../engine/snapshots.ts'
import type { FileSystem } from '../fs/file-system.ts'
import type { Cancellation } from './attached.ts'
import type { ZoneValue } from './extractor.ts'
import { type KeyRanges, type KeyRangesOptions, keyRanges } from './key-ranges.ts'
import { type Entry, type LookupOptions, loadFilters, lookup, rangeLookup } from './lookup.ts'
import { type RebuildResult, rebuildFilters } from './rebuild-filters.ts'
import type { ValueStats } from './value-stats.ts'
import { Values } from './values.ts'

export class ValueQueries {
  readonly #engine: Engine
  readonly #values: Values

  private constructor(engine: Engine, values: Values) {
    this.#engine = engine
    this.#values = values
  }

  /**
   * Undefined for a store without value filters. With loading 'open', loads all filters.
   * @throws LEVEL_NOT_SUPPORTED if there is no such extractor, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  static async open(engine: Engine, fileSystem: FileSystem): Promise<ValueQueries | undefined> {
    const { options, directory } = engine
    if (options.values === undefined) return undefined
    const queries = new ValueQueries(engine, await Values.open(options.values, fileSystem, directory))
    if (options.values.loading === 'open') {
      await queries.#withView(undefined, (view) => {
        queries.#values.follow(view)
        return loadFilters(queries.#values, view)
      })
    }
    return queries
  }

  /** For verify(). */
  get values(): Values {
    return this.#values
  }

  /** @param at a snapshot; undefined: the newest state */
  async *lookup(pair: unknown, options: LookupOptions, at?: Moment): AsyncGenerator<Entry, void> {
    const view = this.#engine.view(at)
    try {
      yield* lookup(this.#values, view, pair, options)
    } finally {
      view.release()
    }
  }

  async *rangeLookup(
    field: string,
    low: ZoneValue | undefined,
    high: ZoneValue | undefined,
    options: LookupOptions,
    at?: Moment
  ): AsyncGenerator<Entry, void> {
    const view = this.#engine.view(at)
    try {
      yield* rangeLookup(this.#values, view, field, low, high, options)
    } finally {
      view.release()
    }
  }

  keyRanges(pairs: readonly unknown[], options: KeyRangesOptions, at?: Moment): Promise<KeyRanges> {
    return this.#withView(at, (view) => keyRanges(this.#values, view, pairs, options))
  }

  rebuildFilters(signal: Cancellation): Promise<RebuildResult> {
    return this.#withView(undefined, (view) => rebuildFilters(this.#values, view, signal))
  }

  stats(): ValueStats {
    return this.#values.stats()
  }

  async #withView<T>(at: Moment | undefined, ask: (view: EngineReadView) => Promise<T>): Promise<T> {
    const view = this.#engine.view(at)
    try {
      return await ask(view)
    } finally {
      view.release()
    }
  }
}
