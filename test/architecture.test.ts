import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const source = fileURLToPath(new URL('../src', import.meta.url))

/** Which layers a layer may import. The picture is in docs/architecture.md. */
const allowed: Record<string, readonly string[]> = {
  model: [],
  bloom: ['model'],
  query: ['model'],
  'sharded-bloom': ['model', 'bloom'],
  lsm: ['model', 'bloom'],
  workload: ['model'],
  docstore: ['model', 'query', 'sharded-bloom', 'lsm'],
  '.': ['model', 'docstore', 'sharded-bloom'],
  cli: ['model', 'docstore', 'workload', '.']
}

/** Where Node's file system may be used: everything else also runs in a browser. */
const mayUseFiles = [join('lsm', 'fs'), 'cli']

interface Import {
  readonly file: string
  readonly specifier: string
}

function imports(): Import[] {
  return readdirSync(source, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !file.includes('assembly'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      const found = text.matchAll(/(?:from|import\()\s*'([^']+)'/g)
      return [...found].map((match) => ({ file, specifier: match[1] ?? '' }))
    })
}

function layerOf(file: string): string {
  const [first, ...rest] = file.split('/')
  return rest.length === 0 ? '.' : (first ?? '.')
}

test('layers import downwards only', () => {
  for (const { file, specifier } of imports()) {
    if (!specifier.startsWith('.')) continue
    const target = relative(source, resolve(source, dirname(file), specifier))
    if (target.startsWith('..')) continue
    const from = layerOf(file)
    const to = layerOf(target)
    assert.ok(from === to || allowed[from]?.includes(to), `${file} (${from}) imports ${target} (${to})`)
  }
})

test("only lsm/fs and cli import Node's file system", () => {
  for (const { file, specifier } of imports()) {
    if (!/^(node:)?fs(\/promises)?$/.test(specifier)) continue
    assert.ok(
      mayUseFiles.some((folder) => file.startsWith(folder)),
      `${file} imports ${specifier}`
    )
  }
})

test('every file can be read in one sitting', () => {
  for (const file of readdirSync(source, { recursive: true }).map(String)) {
    if (!file.endsWith('.ts') || file.endsWith('.generated.ts')) continue
    const lines = readFileSync(join(source, file), 'utf8').split('\n').length
    assert.ok(lines <= 400, `${file} has ${lines} lines`)
  }
})

test.run()
