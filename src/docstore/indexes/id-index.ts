/**
 * The table of `_id`s, read as the unique index over `_id` that it also is. Every collection has it, unless it computes
 * its ordinals. It serves sorts by `_id`, and ranges of `_id`s for which the index over pairs only knows the type, such
 * as ObjectIds.
 */
import type { Area } from '../store/layout.ts'
import type { EntrySource } from './declared-index.ts'
import type { IndexDefinition } from './definition.ts'

const definition: IndexDefinition = {
  // Not used by the catalog.
  id: -1,
  name: '_id_',
  fields: [{ path: '_id', direction: 1 }],
  unique: true,
  sparse: false
}

const zero = 0x30

export class IdIndex implements EntrySource {
  readonly definition = definition
  /** An `_id` cannot be an array. */
  readonly arrays = 0
  readonly area: Area

  constructor(area: Area) {
    this.area = area
  }

  ordinalOf(_key: Uint8Array, value: Uint8Array): number {
    let ordinal = 0
    for (let i = 0; i < value.length; i++) ordinal = ordinal * 10 + value[i]! - zero
    return ordinal
  }
}
