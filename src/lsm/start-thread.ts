/** Starts a thread that runs a module next to the calling one (sibling-module.ts). */
import { fileURLToPath } from 'node:url'
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads'
import { ioError } from './errors.ts'
import { nodeFileSystem } from './fs/node-file-system.ts'
import { bundleAdvice, isSource, siblingModule } from './sibling-module.ts'

interface ThreadOptions {
  readonly resourceLimits?: ResourceLimits
  /** The thread loads no application code, so it needs none of the process's preloaded modules. */
  readonly isIsolated?: boolean
  readonly workerData?: unknown
}

/**
 * @param moduleUrl import.meta.url of the calling module
 * @param name of the thread's module, without its extension
 */
export function startThread(
  moduleUrl: string,
  name: string,
  { resourceLimits, isIsolated: isAlone, workerData }: ThreadOptions = {}
): Worker {
  const module = siblingModule(moduleUrl, name)
  const options = {
    name: `petaldb ${name}`,
    ...(resourceLimits && { resourceLimits }),
    workerData,
    ...(isAlone === true ? withoutPreloads() : withoutInputType())
  }
  if (!isSource(module)) return new Worker(new URL(module), options)
  // Uncompiled sources need the loader in the thread, too.
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const program = `import(${tsx}).then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`
  return new Worker(program, { ...options, eval: true })
}

/**
 * Checks early what would otherwise fail when the first thread is started, perhaps after megabytes of writes.
 * @throws LEVEL_IO_ERROR if the thread's module is missing, as in a bundle that only includes the calling module
 */
export function assertThreadModule(moduleUrl: string, name: string): void {
  const module = siblingModule(moduleUrl, name)
  if (!module.startsWith('file:') || nodeFileSystem.size(fileURLToPath(module)) !== undefined) return
  throw ioError('Threads cannot be started', `there is no ${fileURLToPath(module)}; ${bundleAdvice}`)
}

/**
 * Preloaded loaders and instrumentation of the application take as long to load as a thread's own code, in every
 * thread (`--import tsx`: 100 ms). Yarn's Plug'n'Play must stay: without it no package is found.
 */
function withoutPreloads(): WorkerOptions {
  if (process.versions.pnp !== undefined) return {}
  return { execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } }
}

/**
 * A thread that inherits `--input-type`, with which `node --eval` runs a module, refuses to run a file. A thread of its
 * own arguments may only get those of threads, of which preloads are what its code may need.
 */
function withoutInputType(): WorkerOptions {
  const { execArgv } = process
  if (!execArgv.some((argument) => argument.startsWith('--input-type'))) return {}
  const isPreload = (argument = ''): boolean => /^(-r$|--(require|import|(experimental-)?loader)(=|$))/.test(argument)
  const hasValueNext = (argument = ''): boolean => isPreload(argument) && !argument.includes('=')
  return { execArgv: execArgv.filter((argument, i) => isPreload(argument) || hasValueNext(execArgv[i - 1])) }
}
