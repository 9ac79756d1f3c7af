/** Hashed positions without state: set bits lead back to ids only by testing all ids, which the caller keeps. */
import { PetalError } from '../../../model/errors.ts'
import type { Id } from '../options.ts'
import type { HashedPositions } from './hashed-positions.ts'
import type { IdCodec, Occupancy } from './id-codec.ts'

export class RehashIds implements IdCodec {
  readonly #positions: HashedPositions

  constructor(positions: HashedPositions) {
    this.#positions = positions
  }

  add(id: Id, positions: Uint32Array): void {
    this.#positions.write(id, positions)
  }

  remove(): void {
    // No state.
  }

  positionsOf(id: Id, positions: Uint32Array): boolean {
    this.#positions.write(id, positions)
    return true
  }

  recover(): undefined {
    return undefined
  }

  occupancy(ids: number): Occupancy {
    return this.#positions.occupancy(ids)
  }

  toBytes(): Uint8Array {
    return new Uint8Array(0)
  }

  load(bytes: Uint8Array): void {
    if (bytes.length > 0) throw new PetalError('DataCorruption', `ids: expected 0 bytes, got ${bytes.length}`)
  }
}
