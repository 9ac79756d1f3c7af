import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { change, checkDamage, createSpecimen, filesOf, specimens } from '../support/lsm-damage.ts'

for (const [name, options] of Object.entries(specimens)) {
  test(`${name}: with any byte of any file changed, reads return right answers or LEVEL_CORRUPTION`, async () => {
    const specimen = await createSpecimen(options)
    let cases = 0
    let noticed = 0
    for (const file of filesOf(specimen)) {
      for (let offset = 0; offset < file.bytes; offset++) {
        const mask = offset % 3 === 0 ? 0xff : 1 << (offset % 8)
        cases++
        if (await checkDamage(specimen, change(file.name, offset, mask))) noticed++
      }
    }
    console.log(`${cases} bytes changed, ${noticed} noticed`)
    assert.ok(noticed > cases / 2)
  })
}

test.run()
