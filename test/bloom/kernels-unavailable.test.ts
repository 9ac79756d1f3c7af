/** A runtime without SIMD gets a clear error when the memory is created, not in the middle of a query. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory } from '../../src/bloom/kernels/index.ts'
import { PetalError } from '../../src/model/errors.ts'

const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: { Module: unknown; CompileError: new (message: string) => Error }
}

test('without WebAssembly SIMD, new RowMemory() throws KernelsUnavailable', () => {
  const { Module } = webAssembly
  webAssembly.Module = class {
    constructor() {
      throw new webAssembly.CompileError('invalid opcode 0xfd')
    }
  }
  try {
    assert.throws(
      () => new RowMemory(2 << 20),
      (error: unknown) =>
        error instanceof PetalError && error.codeName === 'KernelsUnavailable' && /SIMD/.test(error.message)
    )
  } finally {
    webAssembly.Module = Module
  }
  assert.ok(new RowMemory(2 << 20).frames > 0)
})

test.run()
