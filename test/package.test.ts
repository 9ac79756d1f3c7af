/** The package can be installed from a clone. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** As Node looks for it: beside the package, or beside one that it lies in. */
function isLocked(name: string, from: string): boolean {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    if (`${place === '' ? '' : `${place}/`}node_modules/${name}` in lock.packages) return true
    if (place === '') return false
  }
}

test('npm ci finds in the lock file what every package asks for, those of other platforms among it', () => {
  for (const [place, { dependencies, optionalDependencies }] of Object.entries(lock.packages)) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      assert.ok(isLocked(name, place), `${place} needs ${name}`)
    }
  }
})

test.run()
