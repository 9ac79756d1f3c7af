/**
 * Draws the pictures of README and docs: `npm run pictures`. test/pictures.test.ts fails if one is out of date.
 */
import { writeFileSync } from 'node:fs'
import { pictures } from './pictures/pictures.ts'

for (const [name, svg] of pictures()) {
  writeFileSync(new URL(`../docs/img/${name}`, import.meta.url), svg)
  console.log(`docs/img/${name}: ${svg.length} characters`)
}
