// Makes the package's JavaScript of the sources: a few files instead of five hundred, because finding, reading and compiling
// each module is most of the time that `import` and the first open() take.
//
//   node scripts/bundle.mjs [directory]      dist by default
//
// All files lie in one directory, so that those that are named by URL (the worker, the extractors: see
// src/lsm/sibling-module.ts) are beside whoever names them, whichever chunk that is in.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

await build({
  absWorkingDir: root,
  entryPoints: {
    index: 'src/index.ts',
    lsm: 'src/lsm/index.ts',
    'sharded-bloom': 'src/sharded-bloom/standalone/index.ts',
    cli: 'src/cli/main.ts',
    worker: 'src/lsm/compaction/worker.ts',
    'json-extractor': 'src/lsm/value/json-extractor.ts',
    'pair-extractor': 'src/docstore/store/pair-extractor.ts'
  },
  outdir: resolve(process.argv[2] ?? 'dist'),
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.15',
  // A process parses all of it before it opens anything. Names stay, and lines are short enough for a stack to point at.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  sourcemap: true,
  // Sources are not in the package, and a stack names them anyway.
  sourcesContent: false,
  logLevel: 'warning'
})
