/** An index with computed ordinals that cannot be opened keeps no row memory, however often this is tried. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { nextTurn } from '../../src/model/time-slice.ts'
import type { Document } from '../../src/model/types.ts'
import { ScatteredIndex } from '../../src/sharded-bloom/scattered/scattered-index.ts'
import { MemoryStore } from '../../src/sharded-bloom/tune/memory-store.ts'

const size = 4096
const marked = 600
const documents = Array.from({ length: marked }, (_, i): Document => ({ _id: i, n: i % 7, text: `text ${i}` }))

async function turns(): Promise<void> {
  for (let i = 0; i < 50; i++) await nextTurn()
}

test('open() that fails while reading marked documents releases all frames', async () => {
  const store = new MemoryStore()
  let readable = Number.POSITIVE_INFINITY
  const create = (): ScatteredIndex =>
    new ScatteredIndex({
      store,
      documents: { async *read() {} },
      size,
      isReadOnly: false,
      documentsAt: async (ordinals) => {
        if (ordinals.some((ordinal) => ordinal >= readable)) throw new Error('not readable')
        return ordinals.map((ordinal) => documents[ordinal])
      }
    })
  const before = rowMemory().freeFrames
  const empty = create()
  await empty.open(0, 0)
  await empty.close(0)
  await turns()
  // The marks that a crash leaves.
  await store.write(documents.map((_, ordinal) => create().removal(ordinal)))
  for (readable of [0, 300, 599]) {
    for (let attempt = 0; attempt < 3; attempt++) {
      await create()
        .open(marked, marked)
        .then(
          () => assert.unreachable('it was opened'),
          (error: Error) => assert.is(error.message, 'not readable')
        )
      await turns()
      assert.is(rowMemory().freeFrames, before, `${readable} readable`)
    }
  }
  readable = Number.POSITIVE_INFINITY
  const index = create()
  await index.open(marked, marked)
  assert.is(index.liveCount(), marked)
  await index.close(marked)
  await turns()
  assert.is(rowMemory().freeFrames, before, 'closed')
})

test.run()
