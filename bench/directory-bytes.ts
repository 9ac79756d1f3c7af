import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'

/** Bytes of the files below a directory, in total and by extension. */
export interface DirectoryBytes {
  readonly total: number
  readonly byExtension: Readonly<Record<string, number>>
}

export function directoryBytes(directory: string): DirectoryBytes {
  const byExtension: Record<string, number> = {}
  let total = 0
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    // An open store may have removed it in the meantime.
    const size = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
    const extension = extname(entry.name) || entry.name.replace(/-\d+$/, '')
    byExtension[extension] = (byExtension[extension] ?? 0) + size
    total += size
  }
  return { total, byExtension }
}
