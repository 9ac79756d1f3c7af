// Compiles every source to JavaScript, module by module, because loading TypeScript in each of hundreds of processes
// takes longer than most of the tests. `directory` gets the layout of the repository, with source maps.
//
// Programs that tests start as processes are in `directory`/programs, bundled into few files as in the package, which
// halves their start-up time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ourUvu } from './our-uvu.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const programs = [
  'src/cli/main.ts',
  'src/index.ts',
  'test/docstore/expire-until-killed.ts',
  'test/docstore/import-until-killed.ts',
  'test/docstore/insert-until-killed.ts',
  'test/docstore/make-with-farmhash.ts',
  'test/docstore/out-until-killed.ts',
  'test/docstore/rebuild-until-killed.ts',
  'test/docstore/short-of-descriptors.ts',
  'test/docstore/transaction-until-killed.ts',
  'test/docstore/try-to-open.ts',
  'test/lsm/conformance.tape.ts',
  'test/lsm/idle-process.ts',
  'test/lsm/kill-writer.ts',
  'test/lsm/lock-contender.ts'
]
/** Must be in the directory of the programs; see src/lsm/sibling-module.ts. */
const threads = [
  'src/lsm/compaction/worker.ts',
  'src/lsm/value/json-extractor.ts',
  'src/docstore/store/pair-extractor.ts',
  'src/docstore/threads/build-thread.ts',
  'src/docstore/threads/scan-thread.ts'
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
  writeFileSync(uvu, ourUvu(readFileSync(fileURLToPath(import.meta.resolve('uvu')), 'utf8')))
}

function modulesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => /(?<!\.d)\.(ts|mjs)$/.test(name) && !/[\\/]assembly[\\/]/.test(name))
}

/** Keeps modules separate, because Node has to find them by name. */
const eachByItself = {
  name: 'each by itself',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.(ts|mjs)$/, '.js'), external: true }
    )
  }
}

/**
 * Gives tests and scripts the URL of their sources, where the files that they read are. Modules of src keep the URL of
 * the compiled file, as in the package.
 */
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

/** Makes tests import the changed uvu, since Node's hooks (with-our-uvu.mjs) would slow down loading every module. */
function testsImport(uvu) {
  return {
    name: 'our uvu',
    setup({ onResolve }) {
      onResolve({ filter: /^uvu$/ }, () => ({ path: uvu, external: true }))
    }
  }
}
