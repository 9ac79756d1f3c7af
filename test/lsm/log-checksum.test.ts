import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { crc32Of } from '../../src/lsm/format/crc32.ts'
import { testSeed } from '../support/arbitraries.ts'

test('crc32Of() a range is the checksum of zlib, whatever its start and length', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 21, maxLength: 200 }),
      fc.nat(20),
      fc.nat(0xffff_ffff),
      (bytes, start, before) => {
        assert.is(crc32Of(bytes, start, bytes.length, before), crc32(bytes.subarray(start), before))
      }
    ),
    { seed: testSeed() }
  )
})

test.run()
