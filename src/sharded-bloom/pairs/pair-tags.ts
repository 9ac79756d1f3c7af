/**
 * Tags: numbers that keep kinds of pairs apart when hashed. Value pairs use their type code (0…15). Part of the file
 * format: a tag never changes its meaning.
 */
import type { Pair, TypePair, ValuePair } from '../../model/pairs.ts'
import type { TypeCode } from '../../model/types.ts'

export const Tag = {
  size: 16,
  type: 17,
  exists: 18,
  /** Not a pair of the document: pairs below this top-level key do not mean what MongoDB equality means. */
  irregular: 19,
  path: 20
} as const

/** A pair as it is hashed, compared and stored: path, tag, and a double or a string. */
export interface TaggedPair {
  readonly path: string
  readonly tag: number
  readonly key: number | string
}

export function tagPair(pair: Pair): TaggedPair {
  switch (pair.kind) {
    case 'value':
      return { path: pair.path, tag: pair.value.type, key: pair.value.key }
    case 'exists':
      return { path: pair.path, tag: Tag.exists, key: 0 }
    case 'type':
      return { path: pair.path, tag: Tag.type, key: pair.type }
    case 'size':
      return { path: pair.path, tag: Tag.size, key: pair.length }
  }
}

/** Reverses tagPair(). REQUIRES: the pair is of a value */
export function valuePair({ path, tag, key }: TaggedPair): ValuePair {
  // Exact: documents whose number differs from its key are irregular, whatever pairs they have.
  return { kind: 'value', path, value: { type: tag as TypeCode, key, exact: true } }
}

/** Reverses tagPair(). REQUIRES: the pair is of a type */
export function typePair({ path, key }: TaggedPair): TypePair {
  return { kind: 'type', path, type: key as TypeCode }
}

export function isValueTag(tag: number): boolean {
  return tag < Tag.size
}
