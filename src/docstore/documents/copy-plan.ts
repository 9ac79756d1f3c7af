/**
 * Copies documents of a known structure by means of constructors that know their keys.
 *
 * `{ ...document }` and a loop over its keys look every key up again once they have seen documents of several
 * structures: a generated tweet takes 1.0 µs that way, and 0.4 µs with a constructor for each of its objects
 * (measured). Object literals are as fast until results are retained for long: V8 then allocates them in the old
 * generation, where only the full collector looks.
 *
 * Invariants:
 * 1. A plan copies the structure it was made for exactly as copyDocument() does. A constructor assigns where
 *    copyDocument() defines, so none of its keys may exist on Object.prototype: check() ensures that.
 * 2. Keys, plans and constructors are bounded: structures beyond the limits are copied by copyDocument(), and so are
 *    all structures where code generation from strings is disabled.
 */
import type { Document } from '../../model/types.ts'
import { copyValue } from './copy-document.ts'

export interface CopyPlan {
  /** Called with the plan itself. */
  copy: Copy
  /** Plans of the values that are objects or arrays, in key order; for an array, the plan of all its elements. */
  readonly children: readonly CopyPlan[]
}

type Copy = (value: object, plan: CopyPlan) => object

/** Objects with the same keys in the same order, and with objects or arrays under the same keys. */
interface Shape {
  readonly keys: readonly string[]
  readonly isNested: readonly boolean[]
  /** Plans of such objects, by the plans of their children. */
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

/** Copies of a shape before a constructor is generated, which takes about as long. */
const copiesBeforeCode = 32
const maxKeysOfObject = 128
const maxNodes = 16_384
const maxPlans = 8192
const maxConstructors = 512

const anyPlan: CopyPlan = { copy: copyValue, children: [] }
/** For arrays that contain neither objects nor arrays. */
const valuesPlan: CopyPlan = { copy: (values) => (values as unknown[]).slice(), children: [] }

/** REQUIRES: the plan was made for the document, and CopyPlans.check() ran in the same synchronous stretch of code. */
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

  /** REQUIRES: heapBytesOf() supports the document. */
  planOf(document: Document): CopyPlan {
    return this.#isOff ? anyPlan : this.#planOfObject(document)
  }

  /** Abandons constructors for good if the keys of Object.prototype have changed: they might assign one of them. */
  check(): void {
    if (this.#isOff) return
    const keys = Object.getOwnPropertyNames(Object.prototype)
    // An added key comes last.
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

  /** Copies without a constructor until one is worth generating. */
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
 * Generates a constructor for a list of keys, and a function that copies with it. V8 chooses the representation of a
 * field by the first values it sees, and boxes doubles, which every copy would allocate again. After a string and an
 * integer, a field can hold anything, and copies share the box.
 * @returns undefined where a policy forbids code generation from strings
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
    // EvalError, from a content security policy or --disallow-code-generation-from-strings.
    return undefined
  }
}

/**
 * Shared by all collections of all databases. V8 keeps type feedback per source text: two constructors with the same
 * text, each seeing objects that the other made, take a third longer per copy (measured with four databases of tweets).
 */
export const copyPlans = new CopyPlans()

/** Copies an array whose elements share one plan. */
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
