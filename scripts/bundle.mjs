// Makes the package's JavaScript of the sources: a few files instead of five hundred, because finding, reading and compiling
// each module is most of the time that `import` and the first open() take.
//
//   node scripts/bundle.mjs [directory]      dist by default
//
// What `import 'petaldb'` and opening a database need is in three chunks; what few need is in chunks of its own. All files lie
// in one directory, so that those that are named by URL (the worker, the extractors: see src/lsm/sibling-module.ts) are
// beside whoever names them, whichever chunk that is in.
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { rollup } from 'rollup'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = resolve(process.argv[2] ?? resolve(root, 'dist'))
const source = (path) => resolve(root, 'src', path)
const target = 'node20.15'

const entries = {
  index: source('index.ts'),
  lsm: source('lsm/index.ts'),
  'sharded-bloom': source('sharded-bloom/standalone/index.ts'),
  cli: source('cli/petaldb.ts')
}
/** What opening a database on LsmLevel loads. */
const opening = ['lsm/lsm-level.ts', 'lsm/fs/directory.ts', 'lsm/fs/node-file-system.ts'].map(source)
/** Loaded by other threads, of which each has all it needs in one file. */
const threads = {
  worker: source('lsm/compaction/worker.ts'),
  'json-extractor': source('lsm/value/json-extractor.ts'),
  'pair-extractor': source('docstore/store/pair-extractor.ts'),
  'load-thread': source('docstore/bulk/load-thread.ts')
}

const typescript = {
  name: 'typescript',
  transform: (code, id) =>
    id.endsWith('.ts') ? transform(code, { loader: 'ts', target, sourcemap: true, sourcefile: id }) : undefined,
  // A process parses all of it before it opens anything. Names stay, and lines are short enough for a stack to point at.
  renderChunk: (code) =>
    transform(code, {
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 160,
      format: 'esm',
      target,
      sourcemap: true
    })
}

await write(entries, chunkOf())
for (const [name, input] of Object.entries(threads)) await write({ [name]: input })

async function write(input, manualChunks) {
  const bundle = await rollup({
    input,
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    plugins: [typescript],
    onwarn(warning) {
      if (warning.code !== 'CIRCULAR_DEPENDENCY') throw new Error(warning.message)
    }
  })
  await bundle.write({
    dir: directory,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    manualChunks,
    hoistTransitiveImports: false,
    sourcemap: true,
    // Sources are not in the package, and a stack names them anyway.
    sourcemapExcludeSources: true
  })
  await bundle.close()
}

/**
 * Which chunk a module is in: `core` for databases alone, `store` for LsmLevel alone, `base` for what the entries share;
 * undefined leaves it to Rollup.
 */
function chunkOf() {
  let sets
  return (id, { getModuleInfo }) => {
    const reachable = (starts) => {
      const found = new Set()
      const visit = (each) => {
        const module = getModuleInfo(each)
        if (found.has(each) || module === null || module.isExternal) return
        found.add(each)
        module.importedIds.forEach(visit)
      }
      starts.forEach(visit)
      return found
    }
    sets ??= {
      database: reachable([entries.index]),
      store: reachable(opening),
      structure: reachable([entries['sharded-bloom']])
    }
    if (Object.values(entries).includes(id)) return undefined
    if (sets.database.has(id)) return sets.store.has(id) || sets.structure.has(id) ? 'base' : 'core'
    return sets.store.has(id) ? 'store' : undefined
  }
}
