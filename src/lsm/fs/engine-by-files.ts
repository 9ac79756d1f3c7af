/**
 * Tells which engine made a database whose marker is lost, by its files.
 *
 * Other engines, and other users of the same ones, have files of the same names: only one that holds a key of ours, which
 * no compression touches where it is the first of a block, shows that the directory is ours. Nothing is changed.
 */
import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** At least as many bytes as a match has. */
const overlap = 64

const engines: readonly (readonly [names: RegExp, engine: 'lsm' | 'level'])[] = [
  [/^\d{6,16}\.(sst|wal)$/, 'lsm'],
  [/^\d{6,16}\.(ldb|log)$/, 'level']
]

/**
 * Returns undefined for a directory without a file that holds such a key, and for what is no directory.
 * @param key matches a key's bytes as Latin-1
 */
export async function engineByFiles(location: string, key: RegExp): Promise<'lsm' | 'level' | undefined> {
  for (const name of namesIn(location)) {
    const engine = engines.find(([names]) => names.test(name))?.[1]
    if (engine !== undefined && (await hasKey(join(location, name), key))) return engine
  }
  return undefined
}

function namesIn(location: string): readonly string[] {
  try {
    return readdirSync(location)
  } catch {
    return []
  }
}

async function hasKey(path: string, key: RegExp): Promise<boolean> {
  let end = ''
  try {
    for await (const chunk of createReadStream(path, 'latin1')) {
      const text = end + String(chunk)
      if (key.test(text)) return true
      end = text.slice(-overlap)
    }
  } catch {
    // It cannot be read, or is a directory: other files may tell.
  }
  return false
}
