// Makes JavaScript of every source, module by module, so that hundreds of processes need not load TypeScript each by itself:
// that takes longer than most of what they test. Files lie in `directory` as they do in the repository, with source maps.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { uvuThatTells } from './uvu-that-tells.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export async function compile(directory) {
  const uvu = join(directory, 'uvu.mjs')
  await build({
    absWorkingDir: root,
    entryPoints: ['src', 'test', 'scripts', 'examples'].flatMap(modulesIn),
    outdir: directory,
    outbase: root,
    bundle: true,
    packages: 'external',
    plugins: [eachByItself, whereItsSourceIs, testsImport(pathToFileURL(uvu).href)],
    format: 'esm',
    platform: 'node',
    target: 'node20.15',
    sourcemap: true,
    sourcesContent: false
  })
  writeFileSync(uvu, uvuThatTells(readFileSync(fileURLToPath(import.meta.resolve('uvu')), 'utf8')))
}

function modulesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => /(?<!\.d)\.(ts|mjs)$/.test(name) && !/[\\/]assembly[\\/]/.test(name))
}

/** Modules stay apart, as Node has to find them by name. */
const eachByItself = {
  name: 'each by itself',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.(ts|mjs)$/, '.js'), external: true }
    )
  }
}

/** What tests read, and the programs that they name, are beside the sources. Only src is where it runs, as in the package. */
const whereItsSourceIs = {
  name: 'where its source is',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](test|scripts|examples)[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const url = JSON.stringify(pathToFileURL(path).href)
      return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' }
    })
  }
}

/** Written once, where hooks of Node (tell-failures.mjs) would take longer to load every module. */
function testsImport(uvu) {
  return {
    name: 'uvu that tells',
    setup({ onResolve }) {
      onResolve({ filter: /^uvu$/ }, () => ({ path: uvu, external: true }))
    }
  }
}
