/**
 * `_id`s by position in the input.
 *
 * An object that grows by one key at a time is copied whenever it is full: at a million keys, 8 MB of it, in one turn of
 * the event loop. So ids are kept in chunks, and a large object is made of them only if somebody looks at it.
 */
const chunkIds = 8192

type Ids = Record<number, unknown>

export class InsertedIds {
  /** undefined where nothing was inserted. */
  readonly #chunks: unknown[][] = []
  #object: Ids | undefined

  set(position: number, id: unknown): void {
    const number = Math.floor(position / chunkIds)
    while (this.#chunks.length <= number) this.#chunks.push([])
    const chunk = this.#chunks[number] as unknown[]
    chunk[position - number * chunkIds] = id
  }

  /** Sets those not known yet, from position `start` on. */
  addMissing(start: number, ids: readonly unknown[]): void {
    for (const [i, id] of ids.entries()) if (this.#at(start + i) === undefined) this.set(start + i, id)
  }

  /** Forgets positions from `start` to before `end`. */
  delete(start: number, end: number): void {
    for (let position = start; position < end; position++) {
      if (this.#at(position) !== undefined) this.set(position, undefined)
    }
  }

  /** Adds them to a result as `insertedIds`: an object, of more than some thousand made when it is first read. */
  addTo<R extends object>(result: R): R & { readonly insertedIds: Readonly<Ids> } {
    if (this.#chunks.length <= 1) return Object.assign(result, { insertedIds: this.#toObject() })
    const get = (): Ids => {
      this.#object ??= this.#toObject()
      return this.#object
    }
    return Object.defineProperty(result, 'insertedIds', { get, enumerable: true, configurable: true }) as R & {
      readonly insertedIds: Readonly<Ids>
    }
  }

  #at(position: number): unknown {
    return this.#chunks[Math.floor(position / chunkIds)]?.[position % chunkIds]
  }

  #toObject(): Ids {
    const object: Ids = {}
    for (const [number, chunk] of this.#chunks.entries()) {
      for (const [i, id] of chunk.entries()) if (id !== undefined) object[number * chunkIds + i] = id
    }
    return object
  }
}
