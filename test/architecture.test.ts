import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const source = fileURLToPath(new URL('../src', import.meta.url))

/** Which layers each layer may import, as shown in docs/architecture.md. */
const allowed: Record<string, readonly string[]> = {
  model: [],
  bloom: ['model'],
  query: ['model'],
  aggregate: ['model', 'query'],
  'sharded-bloom': ['model', 'bloom'],
  lsm: ['model', 'bloom'],
  workload: ['model'],
  docstore: ['model', 'query', 'aggregate', 'sharded-bloom', 'lsm'],
  '.': ['model', 'docstore', 'sharded-bloom'],
  cli: ['model', 'docstore', 'workload', '.']
}

/** Where Node's file system may be used; everything else also runs in a browser. */
const mayUseFiles = [join('lsm', 'fs'), 'cli']

interface Import {
  readonly file: string
  readonly specifier: string
  /** True for types, which do not exist at run time, and for modules that are imported dynamically. */
  readonly isForTypes: boolean
}

function imports(): Import[] {
  return readdirSync(source, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !file.includes('assembly'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      const found = text.matchAll(/(?:(?:import|export)\b(?<names>[^'"(;]*?)\bfrom|import\()\s*'(?<specifier>[^']+)'/g)
      return [...found].map(({ groups = {} }) => {
        const { names, specifier = '' } = groups
        return { file, specifier, isForTypes: names === undefined || /^\s*type\b/.test(names) }
      })
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

/** Files that may import each other, because filters contain operators that contain filters. */
const recursive = ['query/parse.ts', 'query/parse-operators.ts']

test('no file imports itself by way of others', () => {
  const needs = new Map<string, string[]>()
  for (const { file, specifier, isForTypes } of imports()) {
    if (isForTypes || !specifier.startsWith('.')) continue
    const target = relative(source, resolve(source, dirname(file), specifier))
    if (recursive.includes(file) && recursive.includes(target)) continue
    needs.set(file, [...(needs.get(file) ?? []), target])
  }
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    assert.not(path.includes(file), [...path, file].join(' → '))
    if (done.has(file)) return
    for (const target of needs.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of needs.keys()) visit(file, [])
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

test('no source file has more than 400 lines', () => {
  for (const file of readdirSync(source, { recursive: true }).map(String)) {
    if (!file.endsWith('.ts') || file.endsWith('.generated.ts')) continue
    const lines = readFileSync(join(source, file), 'utf8').split('\n').length
    assert.ok(lines <= 400, `${file} has ${lines} lines`)
  }
})

test.run()
