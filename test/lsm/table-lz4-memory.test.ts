/** Checks where the LZ4 kernels read and write, in a memory of their own. */
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lz4Base64 } from '../../src/lsm/format/lz4/lz4.generated.ts'
import { webAssembly } from '../../src/model/web-assembly.ts'
import { seedOfRun } from '../support/values.ts'

/** As in lz4/assembly/index.ts. */
const input = 0x10000
const output = 0x60000
const pages = 11
const slack = 32

interface Kernels {
  compress(length: number, limit: number, target: number): number
  decompress(start: number, length: number, rawLength: number): number
}

const seed = seedOfRun()
assert.ok(webAssembly !== undefined)
const memory = new webAssembly.Memory({ initial: pages, maximum: pages })
const module = new webAssembly.Module(Buffer.from(lz4Base64, 'base64'))
const kernels = new webAssembly.Instance(module, { env: { memory } }).exports as Kernels
const bytes = Buffer.from(memory.buffer)

/** Writes the source to the input, and `filler` everywhere after it. */
function prepare(source: Uint8Array, filler: number): void {
  bytes.fill(filler, input)
  bytes.set(source, input)
}

const isFilled = (from: number, to: number, filler: number) =>
  bytes.subarray(from, to).equals(Buffer.alloc(to - from, filler))

const raw = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.constantFrom('the ', 'quick ', '{"id":', '12', '}'), { maxLength: 300 })
    .map((words) => Buffer.from(words.join(''))),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(2000))
    .map(([period, length]) => Buffer.alloc(length, period))
)

test('compress() writes only its output and the slack, and ignores bytes after the input', () => {
  fc.assert(
    fc.property(raw, (source) => {
      const outputs = [0x00, 0x61, 0xff].map((filler) => {
        prepare(source, filler)
        const length = kernels.compress(source.length, 0x50000, output)
        assert.ok(length > 0)
        assert.ok(bytes.subarray(input, input + source.length).equals(source))
        assert.ok(isFilled(input + source.length, output, filler))
        assert.ok(isFilled(output + length + slack, bytes.length, filler))
        return Buffer.from(bytes.subarray(output, output + length))
      })
      assert.ok(outputs.every((bytes) => bytes.equals(outputs[0]!)))
    }),
    { seed, numRuns: 80 }
  )
})

test('decompress() of any input writes only its output and the slack, and ignores bytes around the input', () => {
  const malformed = fc
    .tuple(raw, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }))
    .map(([source, changes]) => {
      prepare(source, 0)
      const bytesOf = Buffer.from(bytes.subarray(output, output + kernels.compress(source.length, 0x50000, output)))
      for (const [at, byte] of changes) bytesOf[at % bytesOf.length] = byte
      return { compressed: bytesOf, length: source.length }
    })
  fc.assert(
    fc.property(malformed, fc.integer({ min: -40, max: 40 }), ({ compressed, length }, more) => {
      const rawLength = Math.max(0, length + more)
      const answers = [0x00, 0xff].map((filler) => {
        prepare(compressed, filler)
        const answer = kernels.decompress(input, compressed.length, rawLength)
        assert.ok(isFilled(input + compressed.length, output, filler))
        assert.ok(isFilled(output + rawLength + slack, bytes.length, filler))
        return answer === 0 ? '' : bytes.toString('hex', output, output + rawLength)
      })
      assert.is(answers[0], answers[1])
    }),
    { seed, numRuns: 400 }
  )
})

test.run()
