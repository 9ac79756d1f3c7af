/** Starts a worker thread that runs a module lying beside the calling one (sibling-module.ts). */
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads'
import { isSource, siblingModule } from './sibling-module.ts'

interface ThreadOptions {
  readonly resourceLimits?: ResourceLimits
  /** The thread loads no application code, so it needs none of the process's preloaded modules. */
  readonly isAlone?: boolean
}

/**
 * @param moduleUrl import.meta.url of the calling module
 * @param name of the thread's module, without its extension
 */
export function startThread(moduleUrl: string, name: string, { resourceLimits, isAlone }: ThreadOptions = {}): Worker {
  const module = siblingModule(moduleUrl, name)
  const options = {
    name: `petaldb ${name}`,
    ...(resourceLimits && { resourceLimits }),
    ...(isAlone === true && withoutPreloads())
  }
  if (!isSource(module)) return new Worker(new URL(module), options)
  // Uncompiled sources need the loader in the thread, too.
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const program = `import(${tsx}).then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`
  return new Worker(program, { ...options, eval: true })
}

/**
 * Preloaded loaders and instrumentation of the application take as long to load as a thread's own code, in every
 * thread (`--import tsx`: 100 ms). Yarn's Plug'n'Play must stay: without it no package is found.
 */
function withoutPreloads(): WorkerOptions {
  if (process.versions.pnp !== undefined) return {}
  return { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } }
}
