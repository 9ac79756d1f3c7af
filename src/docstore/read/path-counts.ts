/** How many documents have which paths, and values of which types on them. */
import { isDigits } from '../../model/path.ts'
import { type Document, Type, type TypeCode, typeNames, typeOf } from '../../model/types.ts'

/** What documents have on one path. */
export interface PathSummary {
  /**
   * Keys, joined by dots, as the index names a path: elements of arrays are on the path of their array, and keys that are all
   * digits are left out, so that '' is what such keys of the document itself lead to.
   */
  readonly path: string
  /** How many documents have something on it. */
  readonly documents: number
  /** How many of them have a value of each type there, elements of arrays included; the types that most have first. */
  readonly types: Readonly<Partial<Record<StoredTypeName, number>>>
  /** Some value, neither an object nor an array, and null only where there is no other; undefined where there is none. */
  readonly example: unknown
}

type StoredTypeName = Exclude<(typeof typeNames)[number], 'undefined' | 'unsupported'>

class PathCount {
  readonly path: string
  documents = 0
  /** By type code. */
  readonly types: number[] = []
  example: unknown
  /** Number of the document that was looked at last, of those that have the path, and its types, one bit each. */
  lookedAt = 0
  bits = 0

  constructor(path: string) {
    this.path = path
  }
}

/** A place that keys lead to: of places by the same name, a key with a dot leads to one, the paths are the same. */
interface Place {
  readonly count: PathCount
  readonly isRoot: boolean
  readonly below: Map<string, Place>
}

export class PathCounts {
  readonly #counts = new Map<string, PathCount>()
  readonly #root = this.#place('', true)
  #looks = 0
  /** What the document looked at last has. */
  #found: PathCount[] = []

  add(document: Document): void {
    this.look(document)
    for (const count of this.#found) {
      count.documents++
      for (let bits = count.bits; bits !== 0; bits &= bits - 1) addTo(count, 31 - Math.clz32(bits & -bits), 1)
    }
  }

  /** Takes examples from a document that is not counted. */
  look(document: Document): void {
    this.#looks++
    this.#found = []
    this.#object(document, this.#root)
  }

  /** Whether the document looked at last has something on the path, of the type where one is given. */
  hasSeen(path: string, type?: TypeCode): boolean {
    const count = this.#counts.get(path)
    if (count === undefined || count.lookedAt !== this.#looks) return false
    return type === undefined || (count.bits & (1 << type)) !== 0
  }

  addDocuments(path: string, documents: number): void {
    this.#countOf(path).documents += documents
  }

  addType(path: string, type: TypeCode, documents: number): void {
    if (documents > 0) addTo(this.#countOf(path), type, documents)
  }

  /** Whether a value of the type would be a better example than what there is: anything but null is better than that. */
  wantsExample(path: string, type: TypeCode): boolean {
    if (type === Type.object || type === Type.array) return false
    const example = this.#counts.get(path)?.example
    return example === undefined || (example === null && type !== Type.null)
  }

  /** Ascending by path, what is below a path behind it. */
  toArray(): PathSummary[] {
    return [...this.#counts.values()]
      .filter(({ documents }) => documents > 0)
      .map(({ path, documents, types, example }) => ({ path, documents, types: byName(types), example }))
      .sort((a, b) => comparePaths(a.path, b.path))
  }

  #object(document: Document, place: Place): void {
    for (const key of Object.keys(document)) {
      const value = document[key]
      if (value !== undefined) this.#value(value, isDigits(key) ? place : this.#below(place, key))
    }
  }

  #value(value: unknown, place: Place): void {
    const type = typeOf(value)
    const { count } = place
    if (count.lookedAt !== this.#looks) {
      count.lookedAt = this.#looks
      count.bits = 0
      this.#found.push(count)
    }
    count.bits |= 1 << type
    if (type === Type.object) this.#object(value as Document, place)
    // What is missing in an array is null there.
    else if (type === Type.array) for (const element of value as unknown[]) this.#value(element ?? null, place)
    else count.example ??= value
  }

  #below(place: Place, key: string): Place {
    let below = place.below.get(key)
    if (below === undefined) {
      below = this.#place(place.isRoot ? key : `${place.count.path}.${key}`, false)
      place.below.set(key, below)
    }
    return below
  }

  #place(path: string, isRoot: boolean): Place {
    return { count: this.#countOf(path), isRoot, below: new Map() }
  }

  #countOf(path: string): PathCount {
    let count = this.#counts.get(path)
    if (count === undefined) {
      count = new PathCount(path)
      this.#counts.set(path, count)
    }
    return count
  }
}

function addTo({ types }: PathCount, type: number, documents: number): void {
  types[type] = (types[type] ?? 0) + documents
}

function byName(types: readonly number[]): PathSummary['types'] {
  const counted = Object.entries(types).sort(([, a], [, b]) => b - a)
  return Object.fromEntries(counted.map(([type, documents]) => [typeNames[Number(type)]!, documents]))
}

/** Component by component: `a.b` before `a!`, which may stand between by code units. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return left[i]! < right[i]! ? -1 : 1
  }
  return left.length - right.length
}
