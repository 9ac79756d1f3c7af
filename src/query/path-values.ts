/**
 * Walks a dotted path through a document like MongoDB does, compiled once per path.
 *
 * The walk yields values until one passes the test; a missing value is yielded as `undefined`. Rules:
 * 1. In an object, a component is an own key. Without such a key, or at a scalar before the path ends, the walk yields
 *    missing.
 * 2. In an array before the path ends, every element that is an object is walked with the same component, and an
 *    all-digit component also takes the element at that position. Other elements yield nothing, not even missing.
 * 3. An array at the end of the path yields its elements, then itself; reached by position, it yields only itself.
 *
 * Only own properties count: `constructor` and `toString` are missing unless the document contains them.
 */
import { type Document, isPlainObject } from '../model/types.ts'
import type { QueryPath } from './ast.ts'

/** A test of one value; `undefined` is missing. */
export type ValueTest = (value: unknown) => boolean

/** Whether an array at the end of the path is yielded element by element, too, or only as a whole. */
export type LeafArrays = 'elements' | 'whole'

/** Compiles "some value on the path passes the test". */
export function someValue(path: QueryPath, leafArrays: LeafArrays, test: ValueTest): (document: Document) => boolean {
  return compileStep(path.components, 0, leafArrays, test).fromObject
}

interface Step {
  readonly fromObject: (object: Document) => boolean
  readonly fromArray: (array: readonly unknown[]) => boolean
}

function compileStep(components: readonly string[], at: number, leafArrays: LeafArrays, test: ValueTest): Step {
  const key = components[at] as string
  const position = arrayPosition(key)
  const isLast = at === components.length - 1
  const next = isLast ? undefined : compileStep(components, at + 1, leafArrays, test)
  const proceed = next !== undefined ? descend(next, test) : leafArrays === 'elements' ? eachElement(test) : test

  const fromObject = (object: Document): boolean => proceed(ownValue(object, key))

  const takePosition =
    next === undefined
      ? test
      : (element: unknown): boolean => {
          if (Array.isArray(element)) return next.fromArray(element)
          return isPlainObject(element) && next.fromObject(element)
        }

  const fromArray = (array: readonly unknown[]): boolean => {
    for (let i = 0; i < array.length; i++) {
      const element = array[i] ?? null
      if (isPlainObject(element) && fromObject(element)) return true
      if (i === position && takePosition(element)) return true
    }
    return false
  }

  return { fromObject, fromArray }
}

function descend(next: Step, test: ValueTest): ValueTest {
  return (value) => {
    if (typeof value !== 'object' || value === null) return test(undefined)
    if (Array.isArray(value)) return next.fromArray(value)
    return isPlainObject(value) ? next.fromObject(value) : test(undefined)
  }
}

function eachElement(test: ValueTest): ValueTest {
  return (value) => {
    if (typeof value !== 'object' || value === null || !Array.isArray(value)) return test(value)
    for (let i = 0; i < value.length; i++) if (test(value[i] ?? null)) return true
    return test(value)
  }
}

/** Undefined is missing. */
export function ownValue(object: Document, key: string): unknown {
  const value = object[key]
  return value === undefined || Object.hasOwn(object, key) ? value : undefined
}

/** The array index that a component denotes in MongoDB's spelling ('0', '17', not '007'), or −1. */
function arrayPosition(component: string): number {
  return /^(?:0|[1-9]\d{0,14})$/.test(component) ? Number(component) : -1
}
