/**
 * Projections: which parts of a document a query returns.
 *
 * Invariants:
 * 1. A projected document shares no object or array with its source.
 * 2. Keys keep the document's order; computed fields and, in an inclusion, those of `$elemMatch` follow in the order of
 *    the spec.
 * 3. A path leads through arrays to every element; an all-digit component is a key here, not a position.
 * 4. If a field below a key is computed, the key has an object, in place of each scalar, including elements of arrays,
 *    and in place of a missing value.
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

/** Marks a part that is left out. */
const absent: unique symbol = Symbol('absent')

/**
 * @param spec `{ a: 1, 'b.c': 1 }` or `{ a: 0 }`, with `_id` either way, `$slice`, `$elemMatch` and the positional `$`;
 *   without a spec, or with an empty one, a document is returned as it is, not copied
 * @throws PetalError BadValue (mixing, collisions, malformed paths), TypeMismatch, CommandNotSupported (`$meta`,
 *   computed fields without `compute`, and the positional `$` without a filter); the projection throws BadValue if the
 *   filter matched no element
 * @example
 * const project = compileProjection({ 'user.name': 1, _id: 0 })
 * project({ _id: 1, user: { name: 'Ada', age: 36 } }) // { user: { name: 'Ada' } }
 */
export function compileProjection(spec: unknown, options: ProjectionOptions = {}): (document: Document) => Document {
  const projection = parseProjection(spec, options)
  if (projection === undefined) return (document) => document
  const { mode, fields, matched } = projection
  const isComputed = [...fields.values()].some(
    (node) => node.kind === 'computed' || (node.kind === 'fields' && node.isComputed)
  )
  const rootOf = (document: Document): Document | undefined => (isComputed ? document : undefined)
  if (matched !== undefined) {
    const positions = new MatchedPositions(options.filter, options.order)
    return (document) => {
      const alone = positions.withElementAlone(document, matched)
      return projectObject(alone, fields, mode, rootOf(document))
    }
  }
  if (isSingleLevel(projection)) return (document) => pick(document, fields)
  return (document) => projectObject(document, fields, mode, rootOf(document))
}

function isSingleLevel({ mode, fields }: Projection): boolean {
  return mode === 'inclusion' && [...fields.values()].every(({ kind }) => kind === 'include' || kind === 'exclude')
}

/** The common case: only whole fields. */
function pick(document: Document, fields: ProjectionFields): Document {
  const result: Document = {}
  for (const key of Object.keys(document)) {
    if (fields.get(key)?.kind === 'include') result[key] = cloneValue(document[key])
  }
  return result
}

/** @param root input of computed fields; undefined when there are none here or below */
function projectObject(
  object: Document,
  fields: ProjectionFields,
  mode: Projection['mode'],
  root: Document | undefined,
  isDeep = false
): Document {
  const result: Document = {}
  for (const key of Object.keys(object)) {
    const node = fields.get(key)
    const value = object[key]
    if (node === undefined) {
      if (mode === 'exclusion') result[key] = cloneValue(value)
      continue
    }
    const projected = projectField(value, node, mode, root, isDeep)
    if (projected !== absent) result[key] = projected
  }
  if (root !== undefined) addComputed(result, fields, mode, root)
  return result
}

/** Adds fields computed here, and objects for fields computed below. */
function addComputed(result: Document, fields: ProjectionFields, mode: Projection['mode'], root: Document): void {
  for (const [key, node] of fields) {
    if (node.kind === 'computed') {
      const value = node.value(root)
      // Copied, because a path yields the document's own value.
      if (value !== undefined) result[key] = cloneValue(value)
    } else if (node.kind === 'fields' && node.isComputed && !Object.hasOwn(result, key)) {
      result[key] = projectObject({}, node.fields, mode, root)
    }
  }
}

function projectField(
  value: unknown,
  node: ProjectionNode,
  mode: Projection['mode'],
  root: Document | undefined,
  isDeep: boolean
): unknown {
  switch (node.kind) {
    case 'include':
      return cloneValue(value)
    case 'exclude':
    case 'computed':
      return absent
    case 'slice':
      return Array.isArray(value) && !isDeep
        ? value.slice(...sliceBounds(value.length, node)).map((e) => cloneValue(e))
        : cloneValue(value)
    case 'elemMatch': {
      const first = node.firstOf(value)
      return first === undefined ? absent : cloneValue(first)
    }
    case 'fields':
      return projectBelow(value, node.fields, mode, node.isComputed ? root : undefined, isDeep)
  }
}

/** Projects a value below which the path continues. Computed fields replace a scalar by an object. */
function projectBelow(
  value: unknown,
  fields: ProjectionFields,
  mode: Projection['mode'],
  root: Document | undefined,
  isDeep: boolean
): unknown {
  if (Array.isArray(value)) {
    const elements: unknown[] = []
    for (const element of value) {
      const projected = projectBelow(element, fields, mode, root, isDeep || Array.isArray(element))
      if (projected !== absent) elements.push(projected)
    }
    return elements
  }
  if (isPlainObject(value)) return projectObject(value, fields, mode, root, isDeep)
  if (root !== undefined) return projectObject({}, fields, mode, root)
  return mode === 'inclusion' ? absent : cloneValue(value)
}

function sliceBounds(
  length: number,
  { skip, count }: { readonly skip: number; readonly count: number }
): [number, number] {
  const start = skip < 0 ? Math.max(0, length + skip) : Math.min(skip, length)
  return [start, Math.min(length, start + count)]
}
