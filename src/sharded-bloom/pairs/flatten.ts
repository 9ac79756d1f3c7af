/**
 * Flattens a document into pairs, in one walk that also checks that the document can be stored.
 *
 * Invariants:
 * 1. Every pair by which a query of SEMANTICS could bound the document from above is emitted (docs/query-semantics.md).
 * 2. A document whose pairs do not mean exactly what MongoDB equality means is reported irregular, under every affected
 *    top-level key: arrays directly in arrays, keys with dots, all-digit keys, numbers that are not doubles.
 * 3. A document with more values than `maxValues`, or more paths and types than `maxFacts`, is `overfull`: its pairs are
 *    incomplete and it must stay a candidate of every query.
 */
import type { PairHasher } from '../../bloom/hash.ts'
import { timeOf } from '../../model/date.ts'
import { PetalError } from '../../model/errors.ts'
import { isExactDouble, toDouble } from '../../model/numbers.ts'
import { specialKey } from '../../model/scalar.ts'
import { className, type Document, type Numeric, Type, type TypeCode, typeNames, typeOf } from '../../model/types.ts'
import { Tag } from './pair-tags.ts'
import { type PathNode, PathTable } from './path-table.ts'
import { Shape } from './shapes.ts'

/** The pairs of one document. Arrays are reused by the next call of flatten(). */
export interface FlatDocument {
  /** True when JSON.stringify(document) holds the document exactly; an ObjectId as `_id` is allowed. */
  readonly isPlain: boolean
  /** EXISTS and TYPE pairs. */
  readonly shape: Shape
  /** Number of value and size pairs; the arrays below hold as many entries, duplicates included. */
  readonly count: number
  readonly nodes: readonly PathNode[]
  /** Type code of a value, Tag.size for the length of an array. */
  readonly tags: Uint8Array
  readonly keys: readonly (number | string)[]
  readonly lo: Int32Array
  readonly hi: Int32Array
  /** Top-level keys below which lower bounds must exclude this document. */
  readonly irregularKeys: readonly string[]
  readonly isOverfull: boolean
}

export interface FlattenLimits {
  readonly maxDepth: number
  /** Value and size pairs, duplicates included. */
  readonly maxValues: number
  /** Types of paths: shapes keep them. */
  readonly maxFacts: number
}

export const defaultFlattenLimits: FlattenLimits = { maxDepth: 100, maxValues: 2 ** 18, maxFacts: 20_000 }

const maxShapes = 65_536
/** Doubled as documents need it: each collection has a flattener. */
const initialValues = 16
/** Room for more values is given up again: it keeps their texts in memory. */
const maxKeptValues = 16_384

export class Flattener {
  readonly #hasher: PairHasher
  readonly #limits: FlattenLimits
  readonly #paths: PathTable
  #shapeRoot = new Shape()
  #shapeCount = 0
  readonly #countShape = (): void => {
    this.#shapeCount++
  }

  #stamp = 0
  #isPlain = true
  #shape = this.#shapeRoot
  #count = 0
  #facts = 0
  #isOverfull = false
  #irregularKeys: string[] = []
  readonly #nodes: PathNode[] = []
  readonly #keys: (number | string)[] = []
  #tags = new Uint8Array(initialValues)
  #lo = new Int32Array(initialValues)
  #hi = new Int32Array(initialValues)

  constructor(hasher: PairHasher, seed: { readonly lo: number; readonly hi: number }, limits = defaultFlattenLimits) {
    this.#hasher = hasher
    this.#limits = limits
    this.#paths = new PathTable(hasher, seed.lo, seed.hi)
  }

  /** The seed for hashing a query's pairs on a path. */
  seedOf(path: string): { readonly lo: number; readonly hi: number } {
    return this.#paths.seedOf(path)
  }

  /**
   * The result is valid until the next call.
   * @throws PetalError BadValue naming the path: a cycle, nesting beyond the limit, the key `__proto__`, an invalid
   * Date, an integer beyond 64 bits, or a value that no document can hold (function, symbol, Map, …)
   */
  flatten(document: Document): FlatDocument {
    if (this.#paths.trim() || this.#shapeCount > maxShapes) {
      this.#shapeRoot = new Shape()
      this.#shapeCount = 0
    }
    if (this.#keys.length > maxKeptValues) this.#shrink()
    this.#stamp++
    this.#isPlain = true
    this.#shape = this.#shapeRoot
    this.#count = 0
    this.#facts = 0
    this.#isOverfull = false
    if (this.#irregularKeys.length > 0) this.#irregularKeys = []
    const type = typeOf(document)
    if (type !== Type.object) throw new PetalError('BadValue', `A document must be an object, not ${typeNames[type]}`)
    this.#object(document, this.#paths.root, 0, false)
    return {
      isPlain: this.#isPlain,
      shape: this.#shape,
      count: this.#count,
      nodes: this.#nodes,
      tags: this.#tags,
      keys: this.#keys,
      lo: this.#lo,
      hi: this.#hi,
      irregularKeys: this.#irregularKeys,
      isOverfull: this.#isOverfull
    }
  }

  #object(value: Document, node: PathNode, depth: number, irregular: boolean): void {
    if (depth >= this.#limits.maxDepth) throw tooDeep(value, node.path, this.#limits.maxDepth)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) this.#isPlain = false
    for (const key of Object.keys(value)) {
      const field = value[key]
      if (field === undefined) continue
      const child = this.#paths.child(node, key)
      // A digit key shares its parent's node, and a dotted key may spell another path: neither may make anything
      // certain.
      this.#value(field, child, depth + 1, irregular || child === node || child.isDotted)
    }
  }

  #array(value: readonly unknown[], node: PathNode, depth: number, irregular: boolean): void {
    if (depth >= this.#limits.maxDepth) throw tooDeep(value, node.path, this.#limits.maxDepth)
    for (let i = 0; i < value.length; i++) {
      const element = value[i]
      if (Array.isArray(element)) this.#value(element, node, depth + 1, true)
      else this.#value(element === undefined ? null : element, node, depth + 1, irregular)
    }
  }

  #value(value: unknown, node: PathNode, depth: number, irregular: boolean): void {
    switch (typeof value) {
      case 'string':
        this.#fact(node, Type.string, irregular)
        this.#text(node, Type.string, value)
        return
      case 'number':
        this.#fact(node, Type.number, irregular)
        if (!Number.isFinite(value) || Object.is(value, -0)) this.#isPlain = false
        this.#number(node, Type.number, value)
        return
      case 'boolean':
        this.#fact(node, Type.bool, irregular)
        this.#number(node, Type.bool, value ? 1 : 0)
        return
    }
    const type = typeOf(value)
    switch (type) {
      case Type.null:
        this.#fact(node, type, irregular)
        this.#number(node, type, 0)
        return
      case Type.object:
        this.#fact(node, type, irregular)
        this.#object(value as Document, node, depth, irregular)
        return
      case Type.array:
        this.#fact(node, type, irregular)
        this.#number(node, Tag.size, (value as readonly unknown[]).length)
        this.#array(value as readonly unknown[], node, depth, irregular)
        return
      default:
        this.#nonJson(value, type, node, depth, irregular)
    }
  }

  /** Handles values that JSON cannot represent. */
  #nonJson(value: unknown, type: TypeCode, node: PathNode, depth: number, irregular: boolean): void {
    switch (type) {
      case Type.undefined:
      case Type.unsupported: {
        const kind = typeof value === 'object' && value !== null ? className(value) : typeof value
        throw badValue(node.path, `A value of type ${kind} cannot be stored`)
      }
      case Type.number: {
        const number = value as Numeric
        if (typeof number === 'bigint' && BigInt.asIntN(64, number) !== number) {
          throw badValue(node.path, 'An integer beyond 64 bits cannot be stored')
        }
        this.#isPlain = false
        this.#fact(node, type, irregular || !isExactDouble(number))
        this.#number(node, type, toDouble(number))
        return
      }
      case Type.date: {
        const time = timeOf(value)
        if (Number.isNaN(time)) throw badValue(node.path, 'An invalid Date cannot be stored')
        this.#isPlain = false
        this.#fact(node, type, irregular)
        this.#number(node, type, time)
        return
      }
      case Type.minKey:
      case Type.maxKey:
        this.#isPlain = false
        this.#fact(node, type, irregular)
        this.#number(node, type, 0)
        return
      default:
        if (!(type === Type.objectId && depth === 1 && node.path === '_id')) this.#isPlain = false
        this.#fact(node, type, irregular)
        this.#text(node, type, type === Type.string ? String(value) : specialKey(type, value as object))
    }
  }

  /** Records that the path holds a value of the type: EXISTS and TYPE, once per document. */
  #fact(node: PathNode, type: TypeCode, irregular: boolean): void {
    if (irregular && !this.#irregularKeys.includes(node.topLevelKey)) this.#irregularKeys.push(node.topLevelKey)
    if (node.stamp !== this.#stamp) {
      node.stamp = this.#stamp
      node.types = 0
    }
    if ((node.types & (1 << type)) !== 0) return
    node.types |= 1 << type
    if (++this.#facts > this.#limits.maxFacts) this.#isOverfull = true
    if (!this.#isOverfull) this.#shape = this.#shape.step(node, type, this.#countShape)
  }

  #text(node: PathNode, tag: number, text: string): void {
    if (this.#isFull()) return
    this.#hasher.hashString(node.seedLo, node.seedHi, tag, text)
    this.#push(node, tag, text)
  }

  #number(node: PathNode, tag: number, value: number): void {
    if (this.#isFull()) return
    const canonical = value + 0
    this.#hasher.hashNumber(node.seedLo, node.seedHi, tag, canonical)
    this.#push(node, tag, canonical)
  }

  #isFull(): boolean {
    if (this.#count >= this.#limits.maxValues) this.#isOverfull = true
    return this.#isOverfull
  }

  #push(node: PathNode, tag: number, key: number | string): void {
    const i = this.#count++
    if (i === this.#tags.length) this.#grow()
    this.#nodes[i] = node
    this.#tags[i] = tag
    this.#keys[i] = key
    this.#lo[i] = this.#hasher.lo
    this.#hi[i] = this.#hasher.hi
  }

  #shrink(): void {
    this.#nodes.length = 0
    this.#keys.length = 0
    this.#tags = new Uint8Array(initialValues)
    this.#lo = new Int32Array(initialValues)
    this.#hi = new Int32Array(initialValues)
  }

  #grow(): void {
    const length = this.#tags.length * 2
    const tags = new Uint8Array(length)
    const lo = new Int32Array(length)
    const hi = new Int32Array(length)
    tags.set(this.#tags)
    lo.set(this.#lo)
    hi.set(this.#hi)
    this.#tags = tags
    this.#lo = lo
    this.#hi = hi
  }
}

/** Returns a flattener that only checks documents: its hashes are meaningless. For collections without pair lookups. */
export function checkingFlattener(): Flattener {
  return new Flattener({ name: 'murmur', lo: 0, hi: 0, hashString() {}, hashNumber() {} }, { lo: 0, hi: 0 })
}

function badValue(path: string, message: string): PetalError {
  return new PetalError('BadValue', `${message} (at '${path}')`, { details: { path } })
}

function tooDeep(value: object, path: string, maxDepth: number): PetalError {
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
  return hasCycle(value)
    ? badValue(shown, 'A document that contains itself cannot be stored')
    : badValue(shown, `A document nested deeper than ${maxDepth} levels cannot be stored`)
}

/** Looks for a cycle in the first levels below `start`; runs only after a document has been rejected. */
function hasCycle(start: object): boolean {
  const onPath = new Set<object>()
  let budget = 10_000
  const visit = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || budget-- <= 0) return false
    if (onPath.has(value)) return true
    if (onPath.size > 1000) return false
    onPath.add(value)
    for (const child of Object.values(value)) if (visit(child)) return true
    onPath.delete(value)
    return false
  }
  return visit(start)
}
