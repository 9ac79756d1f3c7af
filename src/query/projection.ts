/**
 * Projections: which parts of a document a query returns.
 *
 * Invariants:
 * 1. A projected document shares no object or array with the one it was made from.
 * 2. Keys keep the order that the document has.
 * 3. A path goes through arrays, to every element; a component of digits is a key here, not a position.
 */
import { cloneValue } from '../model/clone.ts'
import { type Document, isPlainObject } from '../model/types.ts'
import {
  type Projection,
  type ProjectionFields,
  type ProjectionNode,
  type ProjectionOptions,
  parseProjection
} from './projection-parse.ts'
import { MatchedPositions } from './update/positional.ts'

/** A part that is left out. */
const absent: unique symbol = Symbol('absent')

/**
 * @param spec `{ a: 1, 'b.c': 1 }` or `{ a: 0 }`, with `_id` as it likes, `$slice`, `$elemMatch` and the positional `$`; without a spec,
 *   or with an empty one, a document is returned as it is, not copied
 * @throws PetalError BadValue (mixing, collisions, malformed paths), TypeMismatch, CommandNotSupported (`$meta`, computed fields, and
 *   the positional `$` without a filter); the projection throws BadValue where the filter matched no element
 * @example
 * const project = compileProjection({ 'user.name': 1, _id: 0 })
 * project({ _id: 1, user: { name: 'Ada', age: 36 } }) // { user: { name: 'Ada' } }
 */
export function compileProjection(spec: unknown, options: ProjectionOptions = {}): (document: Document) => Document {
  const projection = parseProjection(spec, options)
  if (projection === undefined) return (document) => document
  const { mode, fields, matched } = projection
  if (matched !== undefined) {
    const positions = new MatchedPositions(options.filter)
    return (document) => projectObject(positions.withElementAlone(document, matched), fields, mode)
  }
  if (isSingleLevel(projection)) return (document) => pick(document, fields)
  return (document) => projectObject(document, fields, mode)
}

function isSingleLevel({ mode, fields }: Projection): boolean {
  return mode === 'inclusion' && [...fields.values()].every(({ kind }) => kind === 'include' || kind === 'exclude')
}

/** The common case: some whole fields. */
function pick(document: Document, fields: ProjectionFields): Document {
  const result: Document = {}
  for (const key of Object.keys(document)) {
    if (fields.get(key)?.kind === 'include') result[key] = cloneValue(document[key])
  }
  return result
}

function projectObject(object: Document, fields: ProjectionFields, mode: Projection['mode']): Document {
  const result: Document = {}
  for (const key of Object.keys(object)) {
    const node = fields.get(key)
    const value = object[key]
    if (node === undefined) {
      if (mode === 'exclusion') result[key] = cloneValue(value)
      continue
    }
    const projected = projectField(value, node, mode)
    if (projected !== absent) result[key] = projected
  }
  return result
}

function projectField(value: unknown, node: ProjectionNode, mode: Projection['mode']): unknown {
  switch (node.kind) {
    case 'include':
      return cloneValue(value)
    case 'exclude':
      return absent
    case 'slice':
      return Array.isArray(value)
        ? value.slice(...sliceBounds(value.length, node)).map((e) => cloneValue(e))
        : cloneValue(value)
    case 'elemMatch': {
      if (!Array.isArray(value)) return absent
      const index = value.findIndex((element) => node.matches(element))
      return index < 0 ? absent : [cloneValue(value[index])]
    }
    case 'fields':
      return projectBelow(value, node.fields, mode)
  }
}

/** What a path that goes on makes of a value: scalars have nothing to include and nothing to exclude. */
function projectBelow(value: unknown, fields: ProjectionFields, mode: Projection['mode']): unknown {
  if (Array.isArray(value)) {
    const elements: unknown[] = []
    for (const element of value) {
      const projected = projectBelow(element, fields, mode)
      if (projected !== absent) elements.push(projected)
    }
    return elements
  }
  if (isPlainObject(value)) return projectObject(value, fields, mode)
  return mode === 'inclusion' ? absent : cloneValue(value)
}

function sliceBounds(
  length: number,
  { skip, count }: { readonly skip: number; readonly count: number }
): [number, number] {
  const start = skip < 0 ? Math.max(0, length + skip) : Math.min(skip, length)
  return [start, Math.min(length, start + count)]
}
