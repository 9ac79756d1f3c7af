/** A runtime without SIMD gets a clear error when the memory is created, not in the middle of a query. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory } from '../../src/bloom/kernels/index.ts'
import { PetalError } from '../../src/model/errors.ts'

const webAssembly = (globalThis as unknown as { WebAssembly: { validate: (bytes: Uint8Array) => boolean } }).WebAssembly

test('without WebAssembly SIMD, new RowMemory() throws KernelsUnavailable', () => {
  const { validate } = webAssembly
  webAssembly.validate = () => false
  try {
    assert.throws(
      () => new RowMemory(2 << 20),
      (error: unknown) =>
        error instanceof PetalError && error.codeName === 'KernelsUnavailable' && /SIMD/.test(error.message)
    )
  } finally {
    webAssembly.validate = validate
  }
  assert.ok(new RowMemory(2 << 20).frames > 0)
})

test.run()
