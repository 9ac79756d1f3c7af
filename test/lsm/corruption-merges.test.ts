import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { change, checkDamage, createSpecimen, filesOf, specimens } from '../support/lsm-damage.ts'

for (const [name, options] of Object.entries(specimens)) {
  test(`${name}: merging tables with a changed byte does not turn damage into valid entries`, async () => {
    const specimen = await createSpecimen(options)
    let noticed = 0
    for (const file of filesOf(specimen)) {
      if (!/\.(sst|vf)$/.test(file.name)) continue
      for (let offset = 0; offset < file.bytes; offset += 2) {
        const damage = change(file.name, offset, 1 << (offset % 8))
        if (await checkDamage(specimen, damage, (db) => db.compactRange('', '~'))) noticed++
      }
    }
    assert.ok(noticed > 150, `${noticed}`)
  })
}

test.run()
