import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { TreeFilterIndex } from '../../src/bloom/filter-index/tree.ts'
import type { Inner, Leaf } from '../../src/bloom/filter-index/tree-node.ts'
import { candidatesOf, filterIndexCases, filterOf, positionsOf, type Shape, someValues } from './filter-index-cases.ts'
import { seededRandom } from './random.ts'

const shape: Shape = { bits: 1 << 12, hashes: 4 }

filterIndexCases(test, (bits) => new TreeFilterIndex(bits))

const onDisk = new Map<number, Uint8Array>()
filterIndexCases(test, (bits) => {
  onDisk.clear()
  return new (class extends TreeFilterIndex {
    override insert(slot: number, filter: Uint8Array | undefined): void {
      if (filter !== undefined) onDisk.set(slot, filter.slice())
      super.insert(slot, filter)
    }

    // Includes the filters on disk, since the test of memoryBytes expects all filters.
    override get memoryBytes(): number {
      return super.memoryBytes + (this.size * bits) / 8
    }
  })(bits, { order: 2, leafMemory: 0, loadLeaf: (slot) => onDisk.get(slot) })
})

for (const order of [2, 3, 8]) {
  test(`nodes have d to 2d children and contain their bits, and all leaves are at one depth (d = ${order})`, () => {
    const random = seededRandom()
    const tree = new TreeFilterIndex(shape.bits, { order })
    const slots = new Set<number>()
    for (let step = 0; step < 800; step++) {
      const slot = random.below(step < 500 ? 1000 : 60)
      if (slots.delete(slot)) {
        tree.remove(slot)
      } else {
        tree.insert(slot, filterOf(someValues(random, 40), shape))
        slots.add(slot)
      }
      if (step % 20 === 0) checkTree(tree, slots.size)
    }
    for (const slot of slots) tree.remove(slot)
    assert.is(tree.root, undefined)
  })
}

test('leaves beyond leafMemory are read from disk, and only those that a query reaches', () => {
  const filters = new Map<number, Uint8Array>()
  let reads = 0
  const tree = new TreeFilterIndex(shape.bits, {
    order: 4,
    leafMemory: 10 * (shape.bits / 8),
    loadLeaf: (slot) => {
      reads++
      return filters.get(slot)
    }
  })
  // Slots alternate between four topics; similar filters end up below the same nodes.
  for (let slot = 0; slot < 200; slot++) {
    const topic = slot % 4
    const filter = filterOf(
      Array.from({ length: 100 }, (_, i) => topic * 10_000 + ((i + slot) % 110)),
      shape
    )
    filters.set(slot, filter)
    tree.insert(slot, filter)
  }
  reads = 0
  const found = candidatesOf(tree, positionsOf([20_050], shape))
  assert.ok(found.filter((slot) => slot % 4 === 2).length > 40)
  assert.ok(reads < 100, `${reads} leaves read of 190 on disk`)
})

test('a leaf that cannot be read is a candidate', () => {
  const tree = new TreeFilterIndex(shape.bits, { leafMemory: 0, loadLeaf: () => undefined })
  tree.insert(0, filterOf([1], shape))
  assert.equal(candidatesOf(tree, positionsOf([1], shape)), [0])
  tree.insert(1, filterOf([2], shape))
  assert.equal(candidatesOf(tree, positionsOf([1], shape)), [0, 1])
})

function checkTree(tree: TreeFilterIndex, leaves: number): void {
  const depths = new Set<number>()
  let seen = 0
  const visit = (node: Inner, depth: number): void => {
    assert.ok(node.children.length <= 2 * tree.order)
    assert.ok(node.children.length >= (node === tree.root ? 1 : tree.order), `${node.children.length} children`)
    for (const child of node.children) {
      assert.is(child.parent, node)
      if ('slot' in child) {
        depths.add(depth)
        seen++
        for (const position of ones(child)) assert.ok(node.bits.mayHaveAll(Int32Array.of(position)))
      } else {
        for (let position = 0; position < tree.bits; position += 7) {
          const positions = Int32Array.of(position)
          if (child.bits.mayHaveAll(positions)) assert.ok(node.bits.mayHaveAll(positions))
        }
        visit(child, depth + 1)
      }
    }
  }
  if (tree.root !== undefined) visit(tree.root, 0)
  assert.is(seen, leaves)
  assert.ok(depths.size <= 1)
}

function ones(leaf: Leaf): number[] {
  const positions: number[] = []
  leaf.filter?.forEach((byte, i) => {
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) positions.push(i * 8 + bit)
  })
  return positions
}

test.run()
