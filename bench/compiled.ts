/**
 * Programs that benchmarks start as processes, compiled to JavaScript: a process that loads TypeScript by tsx takes
 * 80 MB more memory, loads every library through a thread of tsx's, and keeps the names of all closures.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const bench = fileURLToPath(new URL('.', import.meta.url))
/** In this folder, so that modules find libraries in node_modules and the built package at ../../dist. */
let directory: string | undefined
const programs = new Map<string, string>()

/** Returns the path of the program that a module of the benchmarks was compiled to. It is removed at the end. */
export function compiled(module: URL): string {
  const source = fileURLToPath(module)
  let program = programs.get(source)
  if (program === undefined) {
    directory ??= newDirectory()
    const name = relative(bench, source).replaceAll(sep, '-').replace(/\.ts$/, '')
    buildSync({
      entryPoints: [{ in: source, out: name }],
      outdir: directory,
      bundle: true,
      // What a contender imports is loaded with that contender only.
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20.15'
    })
    program = join(directory, `${name}.js`)
    programs.set(source, program)
  }
  return program
}

/** Flags of this process for one that runs a compiled program. */
export function flagsForCompiled(): string[] {
  return process.execArgv.filter((flag, i, flags) => {
    return (
      flag !== '--import=tsx' &&
      !(flag === 'tsx' && flags[i - 1] === '--import') &&
      !(flag === '--import' && flags[i + 1] === 'tsx')
    )
  })
}

function newDirectory(): string {
  const made = mkdtempSync(join(bench, 'tmp-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}
