// A Rollup plugin that puts abstract-level, with what it consists of, into the bundle: loading its twenty CommonJS files
// one by one takes three times as long, in every process that opens a database. The licenses of what is inlined are
// written beside the bundle.
//
// An LsmLevel that an application creates must be an instance of the AbstractLevel that the application imports. The
// modules with classes that extend those of abstract-level are therefore in the bundle twice: for databases, over the
// inlined package; for the entry `petaldb/lsm`, over the one that is installed.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Packages to inline, as modules, with the exports that the sources use. */
const inlined = {
  'abstract-level': `export {
    AbstractIterator, AbstractKeyIterator, AbstractLevel, AbstractSnapshot, AbstractValueIterator
  } from 'abstract-level'`,
  'module-error': `export { default } from 'module-error'`
}
/** What those packages require() that is a module of its own, and how it is imported. */
const required = {
  buffer: `import { Buffer } from 'node:buffer'; module.exports = { Buffer }`,
  events: `import { EventEmitter } from 'node:events'; module.exports = { EventEmitter }`,
  'module-error': `import ModuleError from '\0module-error'; module.exports = ModuleError`
}
/** The modules of src/lsm whose classes extend those of abstract-level, and those that import them. */
const extending = [
  'level-base.ts',
  'lsm-level.ts',
  'lsm-snapshot.ts',
  'read/items.ts',
  'read/lsm-iterator.ts',
  'typed-level.ts'
].map((path) => resolve(root, 'src/lsm', path))
const entry = resolve(root, 'src/lsm/index.ts')
const ofEntry = '?installed'

/** For Rollup's `external`: whether the plugin decides. */
export const isInlined = (id) => id in inlined

export function inlinedPackages() {
  const packages = new Set()
  return {
    name: 'inlined-packages',
    resolveId(id, importer) {
      const isOfEntry = importer === entry || importer?.endsWith(ofEntry)
      if (id === 'abstract-level' && isOfEntry) return { id, external: true }
      if (id in inlined) return `\0${id}`
      if (id.startsWith('\0')) return id
      if (!isOfEntry) return undefined
      const path = resolve(importer, '..', id)
      return extending.includes(path) ? path + ofEntry : undefined
    },
    async load(id) {
      if (id.endsWith(ofEntry)) return readFileSync(id.slice(0, -ofEntry.length), 'utf8')
      if (!id.startsWith('\0')) return undefined
      const { outputFiles, metafile } = await bundled(id.slice(1))
      for (const path of Object.keys(metafile.inputs)) {
        const directory = path.match(/^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+/)
        if (directory !== null) packages.add(directory[0])
      }
      return { code: outputFiles[0].text, moduleSideEffects: false }
    },
    buildEnd() {
      const importers = this.getModuleInfo('\0abstract-level')?.importers ?? []
      const others = importers.filter((id) => !extending.includes(id))
      if (others.length > 0) this.error(`inlined-packages.mjs must list ${others.join(', ')}`)
    },
    generateBundle() {
      const source = [...packages].sort().map(license)
      this.emitFile({
        type: 'asset',
        fileName: 'third-party-licenses.txt',
        source: source.join(`\n${'-'.repeat(80)}\n\n`)
      })
    }
  }
}

function bundled(name) {
  const separate = Object.keys(required).filter((each) => each !== name)
  return build({
    stdin: { contents: inlined[name], resolveDir: root },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'node20.15',
    absWorkingDir: root,
    external: ['node:*', '\0*'],
    plugins: [
      {
        name: 'required',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: new RegExp(`^(${separate.join('|')})$`) }, ({ path }) => ({
            path,
            namespace: 'required'
          }))
          onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: required[path] }))
        }
      }
    ]
  })
}

function license(directory) {
  const path = resolve(root, directory)
  const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each))
  if (file === undefined) throw new Error(`${name} has no license that could be copied`)
  return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
}
