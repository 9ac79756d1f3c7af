/**
 * How documents of one structure are copied: by constructors that know their keys.
 *
 * `{ ...document }` and a loop over its keys look every key up again once they have met documents of several structures:
 * a generated tweet takes 1.0 µs so, 0.4 with a constructor for each of its objects (measured). Object literals do as well
 * until results are held for long: V8 then makes them where only the full collector looks.
 *
 * Invariants:
 * 1. A plan copies what it was made for as copyDocument() does. A constructor assigns where copyDocument() defines, so none
 *    of its keys is one of Object.prototype: check() looks after that.
 * 2. Keys, plans and constructors are bounded: structures beyond are copied by copyDocument(), and so are all where code
 *    cannot be made from text.
 */
import type { Document } from '../../model/types.ts'
import { copyValue } from './copy-document.ts'

export interface CopyPlan {
  /** Called with the plan itself. */
  copy: Copy
  /** Of the values that are objects or arrays, in the order of keys; of an array the one of all its elements. */
  readonly children: readonly CopyPlan[]
}

type Copy = (value: object, plan: CopyPlan) => object

/** Objects that have the same keys in one order, and objects or arrays under the same of them. */
interface Shape {
  readonly keys: readonly string[]
  readonly isNested: readonly boolean[]
  /** The plans of such objects, by the plans of what is in them. */
  readonly plans: PlanNode
  copies: number
  copy: Copy | undefined
}

interface KeyNode {
  readonly values: Map<string, KeyNode>
  readonly nested: Map<string, KeyNode>
  shape?: Shape
}

interface PlanNode {
  readonly next: Map<CopyPlan, PlanNode>
  plan?: CopyPlan
}

/** Of objects of one shape, after which a constructor is made: it takes about as long. */
const copiesBeforeCode = 32
const maxKeysOfObject = 128
const maxNodes = 16_384
const maxPlans = 8192
const maxConstructors = 512

const anyPlan: CopyPlan = { copy: copyValue, children: [] }
/** Of arrays that hold neither objects nor arrays. */
const valuesPlan: CopyPlan = { copy: (values) => (values as unknown[]).slice(), children: [] }

/** REQUIRES: the plan was made for the document, and CopyPlans.check() ran in the same stretch of synchronous code. */
export function copyByPlan(document: Document, plan: CopyPlan): Document {
  return plan.copy(document, plan) as Document
}

export class CopyPlans {
  readonly #root: KeyNode = keyNode()
  readonly #ofArrays = new Map<CopyPlan, CopyPlan>()
  readonly #ofObjects: CopyPlan[] = []
  readonly #prototypeKeys = Object.getOwnPropertyNames(Object.prototype)
  #nodes = 0
  #constructors = 0
  #isOff = false

  /** REQUIRES: heapBytesOf() knows the document. */
  planOf(document: Document): CopyPlan {
    return this.#isOff ? anyPlan : this.#planOfObject(document)
  }

  /** Gives constructors up for good when Object.prototype has other keys than before: they might assign one of them. */
  check(): void {
    if (this.#isOff) return
    const keys = Object.getOwnPropertyNames(Object.prototype)
    // A key that was added is the last one.
    if (keys.length === this.#prototypeKeys.length && keys.at(-1) === this.#prototypeKeys.at(-1)) return
    this.#isOff = true
    for (const plan of this.#ofObjects) plan.copy = copyValue
  }

  #planOf(value: object): CopyPlan {
    if (Array.isArray(value)) return this.#planOfArray(value)
    return Object.getPrototypeOf(value) === Object.prototype ? this.#planOfObject(value as Document) : anyPlan
  }

  #planOfArray(array: readonly unknown[]): CopyPlan {
    let element: CopyPlan | undefined
    let nested = 0
    for (const value of array) {
      if (!isNested(value)) continue
      nested++
      const plan = this.#planOf(value)
      element ??= plan
      if (plan !== element) return anyPlan
    }
    if (element === undefined) return valuesPlan
    if (nested < array.length) return anyPlan
    let plan = this.#ofArrays.get(element)
    if (plan === undefined) {
      if (this.#ofArrays.size === maxPlans) return anyPlan
      plan = { copy: copyElements, children: [element] }
      this.#ofArrays.set(element, plan)
    }
    return plan
  }

  #planOfObject(object: Document): CopyPlan {
    const keys = Object.keys(object)
    if (keys.length > maxKeysOfObject) return anyPlan
    const children: CopyPlan[] = []
    let node = this.#root
    for (const key of keys) {
      const value = object[key]
      if (isNested(value)) children.push(this.#planOf(value))
      const branches = isNested(value) ? node.nested : node.values
      let next = branches.get(key)
      if (next === undefined) {
        if (this.#nodes === maxNodes) return anyPlan
        this.#nodes++
        next = keyNode()
        branches.set(key, next)
      }
      node = next
    }
    node.shape ??= {
      keys,
      isNested: keys.map((key) => isNested(object[key])),
      plans: planNode(),
      copies: 0,
      copy: undefined
    }
    return this.#planWith(node.shape, children)
  }

  #planWith(shape: Shape, children: readonly CopyPlan[]): CopyPlan {
    let node = shape.plans
    for (const child of children) {
      let next = node.next.get(child)
      if (next === undefined) {
        if (this.#ofObjects.length === maxPlans) return anyPlan
        next = planNode()
        node.next.set(child, next)
      }
      node = next
    }
    if (node.plan !== undefined) return node.plan
    if (this.#ofObjects.length === maxPlans) return anyPlan
    node.plan = { copy: (value, plan) => this.#copyAtFirst(value, plan, shape), children }
    this.#ofObjects.push(node.plan)
    return node.plan
  }

  /** Copies without a constructor until one is worth it. */
  #copyAtFirst(value: object, plan: CopyPlan, shape: Shape): object {
    if (shape.copy === undefined && ++shape.copies >= copiesBeforeCode) shape.copy = this.#copyFor(shape)
    if (shape.copy !== undefined) plan.copy = shape.copy
    return copyValue(value)
  }

  #copyFor({ keys, isNested }: Shape): Copy {
    if (this.#constructors === maxConstructors || keys.some((key) => key in Object.prototype)) return copyValue
    this.#constructors++
    return withConstructor(keys, isNested) ?? copyValue
  }
}

/**
 * V8 keeps fields as it first meets them: numbers that no integer holds in boxes of their own, which every copy would
 * allocate again. After a text and an integer a field is anything, and copies share what is in it.
 *
 * @returns undefined where a policy forbids to make code from text
 */
function withConstructor(keys: readonly string[], isNested: readonly boolean[]): Copy | undefined {
  let children = 0
  const parameters = keys.map((_, i) => `value${i}`)
  const assignments = keys.map((key, i) => `this[${JSON.stringify(key)}] = value${i}`)
  const values = keys.map((key, i) => {
    const value = `from[${JSON.stringify(key)}]`
    if (!isNested[i]) return value
    const child = `children[${children++}]`
    return `${child}.copy(${value}, ${child})`
  })
  const code = `'use strict'
function Document(${parameters}) {
  ${assignments.join('\n  ')}
}
Document.prototype = Object.prototype
new Document(${keys.map(() => "''")})
new Document(${keys.map(() => '0')})
return (from, { children }) => new Document(${values})`
  try {
    return new Function(code)() as Copy
  } catch {
    // EvalError, of a content security policy or of --disallow-code-generation-from-strings.
    return undefined
  }
}

/**
 * Those of all collections of all databases. V8 keeps what it learns about code by its text: two constructors of one text, each
 * met with objects the other one made, take a third longer for each copy (measured; four databases of tweets).
 */
export const copyPlans = new CopyPlans()

/** Of an array whose elements have one plan. */
function copyElements(elements: object, { children }: CopyPlan): object {
  const copy = (elements as object[]).slice()
  const plan = children[0]!
  for (let i = 0; i < copy.length; i++) copy[i] = plan.copy(copy[i]!, plan)
  return copy
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function keyNode(): KeyNode {
  return { values: new Map(), nested: new Map() }
}

function planNode(): PlanNode {
  return { next: new Map() }
}
