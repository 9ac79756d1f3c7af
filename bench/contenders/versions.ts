import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** `name version` of an installed package. */
export function packageVersion(name: string): string {
  // Not require('name/package.json'): an exports map may hide it.
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return `${name} ${JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version}`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return name
}
