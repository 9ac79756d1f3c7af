/** Paths that occur in documents, some of them. */
import type { Document } from '../../src/index.ts'

const most = 16

export function pathsOf(many: readonly Document[]): string[] {
  const paths = new Set<string>()
  const walk = (value: unknown, path: string): void => {
    if (paths.size > most || typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) {
      const below = path === '' ? key : `${path}.${key}`
      if (key === '' || below.startsWith('$')) continue
      paths.add(below)
      walk(child, below)
    }
  }
  for (const document of many) walk(document, '')
  return [...paths]
}
