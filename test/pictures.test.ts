import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { pictures } from '../scripts/pictures/pictures.ts'

test('the pictures show the committed results; if not, run `npm run pictures`', () => {
  for (const [name, svg] of pictures()) {
    assert.is(readFileSync(new URL(`../docs/img/${name}`, import.meta.url), 'utf8'), svg, name)
  }
})

test.run()
