/** Stored ordinals by encoded `_id`, for collections that cannot compute them. */
import type { Store } from '../options.ts'
import type { Area } from './layout.ts'
import type { TextReadOptions } from './store-access.ts'
import { rethrow, wrapStoreErrors } from './store-errors.ts'

type ReadText = (key: Uint8Array, options: TextReadOptions) => string | undefined

/** Up to this many keys are read one by one, if the store can read synchronously. */
export const maxKeysReadSync = 16
const entriesPerRead = 1000

export class IdTable {
  readonly area: Area
  readonly #store: Store
  readonly #readText: ReadText | undefined

  /** @param readText undefined if the store cannot read synchronously */
  constructor(store: Store, area: Area, readText: ReadText | undefined) {
    this.#store = store
    this.area = area
    this.#readText = readText
  }

  /** Returns the ordinal of each key; undefined for those that do not exist. */
  ordinalsOf(
    keys: readonly Uint8Array[],
    options: TextReadOptions
  ): (number | undefined)[] | Promise<(number | undefined)[]> {
    const readText = this.#readText
    if (readText !== undefined && keys.length <= maxKeysReadSync) {
      return wrapStoreErrors(() => keys.map((key) => toOrdinal(readText(this.area.key(key), options))))
    }
    const prefixed = keys.map((key) => this.area.key(key))
    return this.#store
      .getMany<Uint8Array, string | undefined>(prefixed, options)
      .then((values) => values.map(toOrdinal), rethrow)
  }

  /** Yields all stored ordinals, in the order of the `_id`s. */
  async *ordinals({ snapshot }: TextReadOptions): AsyncIterable<number> {
    const range = { gte: this.area.first, lt: this.area.end, keyEncoding: 'view', valueEncoding: 'utf8' } as const
    const values = this.#store.values<Uint8Array, string>({ ...range, ...(snapshot && { snapshot }) })
    try {
      for (let run = await values.nextv(entriesPerRead); run.length > 0; run = await values.nextv(entriesPerRead)) {
        for (const text of run) yield Number(text)
      }
    } finally {
      await values.close()
    }
  }

  /**
   * Returns the greatest encoded `_id`; undefined for an empty collection. @throws PetalError for an error of the store
   */
  async greatest(): Promise<Uint8Array | undefined> {
    const range = { gte: this.area.first, lt: this.area.end, reverse: true, limit: 1, keyEncoding: 'view' } as const
    const [key] = await wrapStoreErrors(() => this.#store.keys<Uint8Array>(range))
      .all()
      .catch(rethrow)
    return key === undefined ? undefined : this.area.suffix(key).slice()
  }
}

function toOrdinal(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
