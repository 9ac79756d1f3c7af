/**
 * Filters drawn from the documents themselves: paths and values that occur, combined by every operator that an index
 * can get wrong. For checking answers against a scan on any data.
 */
import { Type, typeNames, typeOf } from '../../src/model/types.ts'
import type { Random } from '../../src/workload/random.ts'

type Document = Record<string, unknown>
type Filter = Record<string, unknown>

interface Occurrence {
  readonly path: string
  readonly value: unknown
}

export class QueryGenerator {
  readonly #random: Random
  readonly #documents: readonly Document[]

  constructor(documents: readonly Document[], random: Random) {
    this.#documents = documents
    this.#random = random
  }

  /** A filter with operators nested up to `depth`. */
  filter(depth = 3): Filter {
    const random = this.#random
    if (depth === 0 || random.chance(0.35)) return this.#leaf()
    switch (random.below(5)) {
      case 0:
        return { $and: this.#filters(depth) }
      case 1:
        return { $or: this.#filters(depth) }
      case 2:
        return { $nor: this.#filters(depth) }
      case 3:
        return { ...this.#leaf(), $or: this.#filters(depth) }
      default:
        return { $and: [this.filter(depth - 1), { $nor: [this.filter(depth - 1)] }] }
    }
  }

  #filters(depth: number): Filter[] {
    return Array.from({ length: 1 + this.#random.below(3) }, () => this.filter(depth - 1))
  }

  #leaf(): Filter {
    const { path, value } = this.#occurrence()
    const random = this.#random
    if (random.chance(0.06)) return { $jsonSchema: this.#schema(path.split('.'), value) }
    const negated = random.chance(0.15)
    const operator = this.#operator(path, value)
    return { [path]: negated && isOperator(operator) ? { $not: operator } : operator }
  }

  #operator(path: string, value: unknown): unknown {
    const random = this.#random
    const other = (): unknown => (random.chance(0.5) ? this.#valueOn(path) : this.#occurrence().value)
    switch (random.below(20)) {
      case 0:
      case 1:
      case 2:
        return value
      case 3:
        return { $eq: value }
      case 4:
        return { $ne: value }
      case 5:
        return { $in: [value, other(), other()] }
      case 6:
        return { $nin: [value, other()] }
      case 7:
        return { $exists: random.chance(0.5) }
      case 8:
        return { $gt: value }
      case 9:
        return { $gte: value, $lt: other() }
      case 10:
        return { $lte: value }
      case 11:
        return { $all: random.chance(0.5) ? [value] : [value, other()] }
      case 12:
        return { $size: Array.isArray(value) ? value.length : random.below(4) }
      case 13:
        return { $type: typeNames[Math.min(typeOf(value), Type.maxKey)] }
      case 14:
        return null
      case 15:
        return random.chance(0.5) ? { $in: [null, value] } : { $ne: null }
      case 16:
        return this.#elemMatch(value)
      case 17:
      case 18:
        return this.#regex(value)
      default:
        return { $mod: [2 + random.below(5), random.below(2)] }
    }
  }

  /** A schema of objects along the path, with a condition on the value at its end. */
  #schema([key, ...rest]: readonly string[], value: unknown): Filter {
    if (key !== undefined) {
      const schema = { properties: { [key]: this.#schema(rest, value) }, required: [key] }
      return this.#random.chance(0.8) ? { bsonType: 'object', ...schema } : schema
    }
    const type = typeNames[Math.min(typeOf(value), Type.maxKey)]
    switch (this.#random.below(4)) {
      case 0:
        return { enum: [value] }
      case 1:
        return typeof value === 'number' ? { bsonType: 'number', minimum: value } : { bsonType: type }
      case 2:
        return typeof value === 'string'
          ? { bsonType: ['string', 'null'], minLength: value.length }
          : { bsonType: type }
      default:
        return { anyOf: [{ bsonType: type }, { maximum: 5 }], not: { enum: [this.#occurrence().value] } }
    }
  }

  #elemMatch(value: unknown): Filter {
    const element = Array.isArray(value) && value.length > 0 ? this.#random.pick(value as unknown[]) : value
    if (typeOf(element) !== Type.object) {
      return { $elemMatch: this.#random.chance(0.5) ? { $eq: element } : { $ne: element, $exists: true } }
    }
    const keys = Object.keys(element as Document)
    if (keys.length === 0) return { $elemMatch: { a: { $exists: false } } }
    const key = this.#random.pick(keys)
    const field = (element as Document)[key]
    return { $elemMatch: { [key]: this.#random.chance(0.3) ? { $ne: field } : field } }
  }

  #regex(value: unknown): RegExp {
    const text = typeof value === 'string' && value.length > 0 ? value : 'a'
    const start = this.#random.below(text.length)
    const part = text.slice(start, start + 1 + this.#random.below(4)).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    return new RegExp(this.#random.chance(0.5) ? `^${part}` : part, this.#random.chance(0.3) ? 'i' : '')
  }

  /** A path of some document and the value on it; now and then a path that no document has. */
  #occurrence(): Occurrence {
    const random = this.#random
    for (let attempt = 0; attempt < 20; attempt++) {
      const found = this.#descend(random.pick(this.#documents))
      if (found !== undefined) return random.chance(0.03) ? { ...found, path: `${found.path}.absent` } : found
    }
    return { path: '_id', value: null }
  }

  #descend(document: Document): Occurrence | undefined {
    const random = this.#random
    let value: unknown = document
    const path: string[] = []
    for (;;) {
      if (Array.isArray(value)) {
        // MongoDB's paths reach through arrays, with or without a position.
        if (path.length > 0 && (value.length === 0 || random.chance(0.3))) break
        const position = random.below(value.length)
        if (random.chance(0.1)) path.push(String(position))
        value = value[position]
      } else if (typeOf(value) === Type.object) {
        const keys = Object.keys(value as Document).filter((key) => key !== '' && !key.includes('.') && key[0] !== '$')
        if (keys.length === 0 || (path.length > 0 && random.chance(0.1))) break
        const key = random.pick(keys)
        path.push(key)
        value = (value as Document)[key]
      } else break
    }
    return path.length === 0 || value === undefined ? undefined : { path: path.join('.'), value }
  }

  #valueOn(path: string): unknown {
    const found = this.#random.pick(this.#documents)
    let value: unknown = found
    for (const key of path.split('.')) {
      const inside = Array.isArray(value) ? value[0] : value
      if (typeOf(inside) !== Type.object || !Object.hasOwn(inside as Document, key)) return null
      value = (inside as Document)[key]
    }
    return value ?? null
  }
}

function isOperator(value: unknown): boolean {
  return (
    value instanceof RegExp ||
    (typeOf(value) === Type.object && Object.keys(value as Document).some((key) => key[0] === '$'))
  )
}
