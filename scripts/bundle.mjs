// Bundles the sources into the package's JavaScript: a few files instead of five hundred, because finding, reading and
// compiling each module takes most of the time of `import` and the first open().
//
//   node scripts/bundle.mjs [directory]      default: dist
//
// Everything that `import 'petaldb'` and opening a database need is in three chunks; rarely needed code is in others.
// All files are in one directory, so that files referred to by URL (the worker, the extractors: see
// src/lsm/sibling-module.ts) are found from any chunk.
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { rollup } from 'rollup'
import { minify } from 'terser'
import { inlinedPackages, isInlined } from './inlined-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = resolve(process.argv[2] ?? resolve(root, 'dist'))
const source = (path) => resolve(root, 'src', path)
const target = 'node20.15'

const entries = {
  node: source('node.ts'),
  index: source('index.ts'),
  lsm: source('lsm/index.ts'),
  'sharded-bloom': source('sharded-bloom/standalone/index.ts'),
  cli: source('cli/petaldb.ts')
}
/** The modules that opening a database on LsmLevel loads. */
const opening = ['lsm/lsm-level.ts', 'lsm/fs/directory.ts', 'lsm/fs/node-file-system.ts'].map(source)
/** Loaded by other threads; each file contains everything it needs. */
const threads = {
  worker: source('lsm/compaction/worker.ts'),
  'json-extractor': source('lsm/value/json-extractor.ts'),
  'pair-extractor': source('docstore/store/pair-extractor.ts'),
  'build-thread': source('docstore/threads/build-thread.ts'),
  'scan-thread': source('docstore/threads/scan-thread.ts')
}

const typescript = {
  name: 'typescript',
  transform: (code, id) =>
    /\.ts(\?|$)/.test(id) ? transform(code, { loader: 'ts', target, sourcemap: true, sourcefile: id }) : undefined,
  // Minified, since a process parses all of it before opening anything. Names of functions and classes are kept, and
  // lines are short enough for stack traces to be useful.
  async renderChunk(source) {
    const { code, map } = await transform(source, { minifySyntax: true, format: 'esm', target, sourcemap: true })
    return minify(code, {
      module: true,
      compress: false,
      mangle: { toplevel: false, keep_fnames: true, keep_classnames: true },
      // V8 keeps a text of ASCII in half the memory, and reads it faster.
      format: { ascii_only: true, max_line_len: 160 },
      sourceMap: { content: map }
    })
  }
}

const packages = inlinedPackages()
await write(entries, chunkOf())
for (const [name, input] of Object.entries(threads)) await write({ [name]: input })

async function write(input, manualChunks) {
  const bundle = await rollup({
    input,
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !isInlined(id),
    plugins: [packages, typescript],
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
    // Sources are not in the package, but stack traces name them anyway.
    sourcemapExcludeSources: true
  })
  await bundle.close()
}

/**
 * Chooses the chunk of a module: `core` for modules of databases alone, `store` for those of LsmLevel alone, `base` for
 * those that entries share; undefined leaves the choice to Rollup.
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
