/** Counts how many documents have which paths, with values of which types. */
import { isDigits } from '../../model/path.ts'
import { type Document, Type, type TypeCode, typeNames, typeOf } from '../../model/types.ts'

/** A path of the documents, with its frequency and types. */
export interface PathSummary {
  /**
   * Keys joined by dots, as the index names paths: array elements are on the path of their array, and all-digit keys
   * are omitted, so that '' is the path of such keys at the top level.
   */
  readonly path: string
  /** Number of documents with something on the path. */
  readonly documents: number
  /** Number of documents with a value of each type there, including array elements; the most frequent types first. */
  readonly types: Readonly<Partial<Record<StoredTypeName, number>>>
  /** A sample value, neither an object nor an array, and null only if there is no other; undefined if there is none. */
  readonly example: unknown
}

type StoredTypeName = Exclude<(typeof typeNames)[number], 'undefined' | 'unsupported'>

class PathCount {
  readonly path: string
  documents = 0
  /** Indexed by type code. */
  readonly types: number[] = []
  example: unknown
  /** Sequence number of the last examined document that has the path, and the types found there, one bit each. */
  lastExamined = 0
  bits = 0

  constructor(path: string) {
    this.path = path
  }
}

/** A position that keys lead to. Different positions may share a path, since a key may itself contain dots. */
interface PathNode {
  readonly count: PathCount
  readonly isRoot: boolean
  readonly children: Map<string, PathNode>
}

export class PathCounts {
  readonly #counts = new Map<string, PathCount>()
  readonly #root = this.#node('', true)
  #examined = 0
  /** Paths of the last examined document. */
  #found: PathCount[] = []

  add(document: Document): void {
    this.examine(document)
    for (const count of this.#found) {
      count.documents++
      for (let bits = count.bits; bits !== 0; bits &= bits - 1) addTo(count, 31 - Math.clz32(bits & -bits), 1)
    }
  }

  /** Examines a document for examples only, without counting it. */
  examine(document: Document): void {
    this.#examined++
    this.#found = []
    this.#object(document, this.#root)
  }

  /** Whether the last examined document has something on the path, of the given type if there is one. */
  hasSeen(path: string, type?: TypeCode): boolean {
    const count = this.#counts.get(path)
    if (count === undefined || count.lastExamined !== this.#examined) return false
    return type === undefined || (count.bits & (1 << type)) !== 0
  }

  addDocuments(path: string, documents: number): void {
    this.#countOf(path).documents += documents
  }

  addType(path: string, type: TypeCode, documents: number): void {
    if (documents > 0) addTo(this.#countOf(path), type, documents)
  }

  /** Whether a value of the type would be a better example than the current one; any value is better than null. */
  wantsExample(path: string, type: TypeCode): boolean {
    if (type === Type.object || type === Type.array) return false
    const example = this.#counts.get(path)?.example
    return example === undefined || (example === null && type !== Type.null)
  }

  /** Returns the summaries ascending by path, with a path before those below it. */
  toArray(): PathSummary[] {
    return [...this.#counts.values()]
      .filter(({ documents }) => documents > 0)
      .map(({ path, documents, types, example }) => ({ path, documents, types: byName(types), example }))
      .sort((a, b) => comparePaths(a.path, b.path))
  }

  #object(document: Document, place: PathNode): void {
    for (const key of Object.keys(document)) {
      const value = document[key]
      if (value !== undefined) this.#value(value, isDigits(key) ? place : this.#child(place, key))
    }
  }

  #value(value: unknown, place: PathNode): void {
    const type = typeOf(value)
    const { count } = place
    if (count.lastExamined !== this.#examined) {
      count.lastExamined = this.#examined
      count.bits = 0
      this.#found.push(count)
    }
    count.bits |= 1 << type
    if (type === Type.object) this.#object(value as Document, place)
    // A hole in an array counts as null.
    else if (type === Type.array) for (const element of value as unknown[]) this.#value(element ?? null, place)
    else count.example ??= value
  }

  #child(place: PathNode, key: string): PathNode {
    let below = place.children.get(key)
    if (below === undefined) {
      below = this.#node(place.isRoot ? key : `${place.count.path}.${key}`, false)
      place.children.set(key, below)
    }
    return below
  }

  #node(path: string, isRoot: boolean): PathNode {
    return { count: this.#countOf(path), isRoot, children: new Map() }
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

/** Compares component by component: `a.b` sorts before `a!`, unlike by code units. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return left[i]! < right[i]! ? -1 : 1
  }
  return left.length - right.length
}
