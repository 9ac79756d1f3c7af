/** Starts a thread that runs a module of its own: one that lies beside the module that asks (sibling-module.ts). */
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads'
import { isSource, siblingModule } from './sibling-module.ts'

interface ThreadOptions {
  readonly resourceLimits?: ResourceLimits
  /** It loads nothing of the application's, and so needs nothing of what the process was told to load before anything else. */
  readonly isAlone?: boolean
}

/**
 * @param moduleUrl import.meta.url of the module that asks
 * @param name of the thread's module, without its ending
 */
export function startThread(moduleUrl: string, name: string, { resourceLimits, isAlone }: ThreadOptions = {}): Worker {
  const module = siblingModule(moduleUrl, name)
  const options = {
    name: `petaldb ${name}`,
    ...(resourceLimits && { resourceLimits }),
    ...(isAlone === true && withoutPreloads())
  }
  if (!isSource(module)) return new Worker(new URL(module), options)
  // Sources that were not compiled need the loader that runs them here, in the thread, too.
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const program = `import(${tsx}).then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`
  return new Worker(program, { ...options, eval: true })
}

/**
 * Loaders and instruments of the application take as long to load as a thread's own code, in every thread (`--import tsx`: 100 ms).
 * Yarn's Plug'n'Play is one without which no package is found.
 */
function withoutPreloads(): WorkerOptions {
  if (process.versions.pnp !== undefined) return {}
  return { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } }
}
