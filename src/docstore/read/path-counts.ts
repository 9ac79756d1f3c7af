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
  /** How many of them have a value of each type there, elements of arrays included: those that none has are left out. */
  readonly types: Readonly<Partial<Record<(typeof typeNames)[number], number>>>
  /** A value of one of them, neither an object nor an array, and null only where it is no other; undefined where there is none. */
  readonly example: unknown
}

interface PathCount {
  documents: number
  /** By type code. */
  readonly types: Map<TypeCode, number>
  example: unknown
}

/** What of one document is counted: for each path the types of the values on it. */
type DocumentTypes = Map<string, Set<TypeCode>>

export class PathCounts {
  readonly #paths = new Map<string, PathCount>()

  add(document: Document): void {
    for (const [path, types] of this.learn(document)) {
      const count = this.#at(path)
      count.documents++
      for (const type of types) increase(count.types, type, 1)
    }
  }

  /** Takes examples from the document, which is not counted. @returns what it has */
  learn(document: Document): DocumentTypes {
    const found: DocumentTypes = new Map()
    walkObject(document, undefined, (path, type, value) => {
      let types = found.get(path)
      if (types === undefined) {
        types = new Set()
        found.set(path, types)
      }
      types.add(type)
      if (type !== Type.object && type !== Type.array) this.#at(path).example ??= value
    })
    return found
  }

  addDocuments(path: string, documents: number): void {
    this.#at(path).documents += documents
  }

  addType(path: string, type: TypeCode, documents: number): void {
    if (documents > 0) increase(this.#at(path).types, type, documents)
  }

  /** Whether a value of the type would be a better example than what there is: anything but null is better than that. */
  wantsExample(path: string, type: TypeCode): boolean {
    if (type === Type.object || type === Type.array) return false
    const example = this.#paths.get(path)?.example
    return example === undefined || (example === null && type !== Type.null)
  }

  /** Ascending by path, what is below a path behind it. */
  toArray(): PathSummary[] {
    const counted = [...this.#paths].filter(([, { documents }]) => documents > 0)
    return counted
      .map(([path, { documents, types, example }]) => {
        const ascending = [...types].sort(([a], [b]) => a - b)
        return { path, documents, types: Object.fromEntries(ascending.map(([t, n]) => [typeNames[t], n])), example }
      })
      .sort((a, b) => comparePaths(a.path, b.path))
  }

  #at(path: string): PathCount {
    let count = this.#paths.get(path)
    if (count === undefined) {
      count = { documents: 0, types: new Map(), example: undefined }
      this.#paths.set(path, count)
    }
    return count
  }
}

function increase(counts: Map<TypeCode, number>, type: TypeCode, by: number): void {
  counts.set(type, (counts.get(type) ?? 0) + by)
}

type Visit = (path: string, type: TypeCode, value: unknown) => void

/** @param path undefined for the document itself */
function walkObject(document: Document, path: string | undefined, visit: Visit): void {
  for (const key of Object.keys(document)) {
    const value = document[key]
    if (value === undefined) continue
    walkValue(value, isDigits(key) ? path : path === undefined ? key : `${path}.${key}`, visit)
  }
}

function walkValue(value: unknown, path: string | undefined, visit: Visit): void {
  const type = typeOf(value)
  visit(path ?? '', type, value)
  if (type === Type.object) walkObject(value as Document, path, visit)
  // What is missing in an array is null there.
  else if (type === Type.array) for (const element of value as unknown[]) walkValue(element ?? null, path, visit)
}

/** Component by component: `a.b` before `a!`, which may stand between by code units. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return left[i]! < right[i]! ? -1 : 1
  }
  return left.length - right.length
}
