/** The example of the standalone structure runs, and finds candidates for all its questions. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from '../support/program.ts'

for (const tail of ['bloom', 'fingerprint']) {
  test(`the example answers its questions, removes ids, and reads back what it wrote (${tail})`, async () => {
    const args = [...loader, program('examples/sharded-bloom.ts'), '--count', '2000', '--seed', '5', '--tail', tail]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    assert.is(stderr, '')
    for (const title of ['one pair', 'AND', 'OR', 'AND with NOT', 'NOT', 'absent value', 'read back from bytes']) {
      assert.match(stdout, new RegExp(`^${title} +[\\d,]+ match, +[\\d,]+ candidates`, 'm'))
    }
    assert.match(stdout, /^1,000 ids with [\d,]+ pairs in /m)
    assert.match(stdout, /^false positives of an absent pair: \S+ predicted, \S+ observed$/m)
  })
}

test.run()
