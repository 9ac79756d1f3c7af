/**
 * The shape of a document: its (path, type) facts in the order they are first met. Documents of one shape share their
 * EXISTS and TYPE pairs, which are hashed once per shape instead of once per document.
 *
 * Shapes are nodes of a trie walked one fact at a time, so two documents have the same shape object exactly when they
 * have the same facts: equality does not depend on a hash.
 */
import type { PathNode } from './path-table.ts'

export class Shape {
  readonly parent: Shape | undefined
  /** The fact this node adds to its parent; the root has none. */
  readonly node: PathNode | undefined
  readonly type: number
  /** Data prepared for documents of this shape. */
  prepared: unknown = undefined
  /** Identifies who prepared it: an object that references nothing, because shapes outlive segments. */
  preparedBy: object | undefined = undefined
  /** By step; undefined as long as there is at most one, the last: most shapes have no other. */
  #next: Map<number, Shape> | undefined
  #lastStep = -1
  #lastShape: Shape | undefined

  constructor(parent?: Shape, node?: PathNode, type = 0) {
    this.parent = parent
    this.node = node
    this.type = type
  }

  /** Returns the shape with one more fact. `onCreate` is called for each new node, to bound memory. */
  step(node: PathNode, type: number, onCreate: () => void): Shape {
    const step = node.id * 16 + type
    if (step === this.#lastStep) return this.#lastShape!
    let shape = this.#next?.get(step)
    if (shape === undefined) {
      shape = new Shape(this, node, type)
      if (this.#lastShape !== undefined) {
        this.#next ??= new Map([[this.#lastStep, this.#lastShape]])
        this.#next.set(step, shape)
      }
      onCreate()
    }
    this.#lastStep = step
    this.#lastShape = shape
    return shape
  }

  /** All facts, in no particular order. */
  *facts(): Generator<{ readonly node: PathNode; readonly type: number }> {
    for (let shape: Shape = this; shape.parent !== undefined && shape.node !== undefined; shape = shape.parent) {
      yield { node: shape.node, type: shape.type }
    }
  }
}
