// Makes JavaScript of every source, module by module, so that hundreds of processes need not load TypeScript each by itself:
// that takes longer than most of what they test. Files lie in `directory` as they do in the repository, with source maps.
//
// Programs that tests start as processes are in `directory`/programs, each in few files, as in the package: they start in half
// the time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { uvuThatTells } from './uvu-that-tells.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const programs = [
  'src/cli/main.ts',
  'src/index.ts',
  'test/docstore/expire-until-killed.ts',
  'test/docstore/import-until-killed.ts',
  'test/docstore/insert-until-killed.ts',
  'test/docstore/make-with-farmhash.ts',
  'test/docstore/out-until-killed.ts',
  'test/docstore/try-to-open.ts',
  'test/lsm/conformance.tape.ts',
  'test/lsm/idle-process.ts',
  'test/lsm/kill-writer.ts',
  'test/lsm/lock-contender.ts'
]
/** Found beside the programs: see src/lsm/sibling-module.ts. */
const threads = [
  'src/lsm/compaction/worker.ts',
  'src/lsm/value/json-extractor.ts',
  'src/docstore/store/pair-extractor.ts',
  'src/docstore/bulk/load-thread.ts'
]

const common = {
  absWorkingDir: root,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.15',
  sourcemap: true,
  sourcesContent: false
}

export async function compile(directory) {
  const uvu = join(directory, 'uvu.mjs')
  await build({
    ...common,
    entryPoints: ['src', 'test', 'scripts'].flatMap(modulesIn),
    outdir: directory,
    outbase: root,
    plugins: [eachByItself, whereItsSourceIs, testsImport(pathToFileURL(uvu).href)]
  })
  await build({
    ...common,
    entryPoints: [...programs, ...threads, ...modulesIn('examples')].map((path) => ({
      in: path,
      out: basename(path, '.ts')
    })),
    outdir: join(directory, 'programs'),
    splitting: true
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
    onLoad({ filter: /[\\/](test|scripts)[\\/].*\.ts$/ }, ({ path }) => {
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
