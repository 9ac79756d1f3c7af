// Builds all WebAssembly modules of this tree; see kernel-modules.mjs.
import { fileURLToPath } from 'node:url'
import { buildModule, modules } from './kernel-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

try {
  for (const module of modules) {
    const bytes = await buildModule(module, root)
    process.stdout.write(`${module.target}: ${bytes} bytes of WebAssembly\n`)
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
