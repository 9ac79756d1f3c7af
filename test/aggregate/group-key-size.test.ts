/** Beyond half a gigabyte, Node's decoder ends the process instead of throwing. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { groupKey } from '../../src/aggregate/group-key.ts'
import { PetalError } from '../../src/model/errors.ts'

test('a value of more than 256 MiB is refused as the key of a group', () => {
  const text = 'x'.repeat(2 ** 20)
  try {
    groupKey(Array.from({ length: 256 }, () => text))
    assert.unreachable()
  } catch (error) {
    assert.instance(error, PetalError)
    assert.match((error as Error).message, /at most 268435456 bytes, not 26\d{7}/)
  }
})

test.run()
