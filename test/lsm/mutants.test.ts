import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

interface Mutant {
  readonly claim: string
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
  readonly tests: readonly string[]
}

const root = fileURLToPath(new URL('../../', import.meta.url))
// A data module without types.
const list = new URL('./mutants/index.mjs', import.meta.url).href
const { mutants } = (await import(list)) as { mutants: Record<string, readonly Mutant[]> }
const all = Object.values(mutants).flat()

test('every edit of a mutant has exactly one place in the source, and its test files exist', () => {
  for (const { claim, edits, tests } of all) {
    for (const { file, find, replace } of edits) {
      const places = readFileSync(root + file, 'utf8').split(find).length - 1
      assert.is(places, 1, `${claim}: ${file} has ${places} places with\n${find}`)
      assert.is.not(find, replace, claim)
    }
    assert.ok(tests.length > 0, claim)
    for (const file of tests) assert.ok(existsSync(root + file), `${claim}: there is no ${file}`)
  }
})

test('the claims of mutants are unique', () => {
  assert.is(new Set(all.map(({ claim }) => claim)).size, all.length)
})

test.run()
