import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkDamage, createSpecimen, cut, filesOf, grow, remove, replace, specimens } from '../support/lsm-damage.ts'

for (const [name, options] of Object.entries(specimens)) {
  test(`${name}: with any file truncated at any length, reads return right answers or LEVEL_CORRUPTION`, async () => {
    const specimen = await createSpecimen(options)
    let noticed = 0
    for (const file of filesOf(specimen)) {
      for (let length = 0; length < file.bytes; length++) {
        if (await checkDamage(specimen, cut(file.name, length))) noticed++
      }
    }
    assert.ok(noticed > 500, `${noticed}`)
  })

  test(`${name}: with a file removed, extended or replaced, reads return right answers or LEVEL_CORRUPTION`, async () => {
    const specimen = await createSpecimen(options)
    const files = filesOf(specimen)
    for (const file of files) {
      await checkDamage(specimen, remove(file.name))
      for (const count of [1, 24, 64, 5000]) await checkDamage(specimen, grow(file.name, count))
      for (const other of files) {
        if (other !== file) await checkDamage(specimen, replace(file.name, other.name))
      }
    }
  })
}

test.run()
