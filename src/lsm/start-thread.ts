/** Starts a thread that runs a module of its own: one that lies beside the module that asks (sibling-module.ts). */
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { isSource, siblingModule } from './sibling-module.ts'

/**
 * @param moduleUrl import.meta.url of the module that asks
 * @param name of the thread's module, without its ending
 */
export function startThread(moduleUrl: string, name: string, resourceLimits?: ResourceLimits): Worker {
  const module = siblingModule(moduleUrl, name)
  const options = { name: `petaldb ${name}`, ...(resourceLimits && { resourceLimits }) }
  if (!isSource(module)) return new Worker(new URL(module), options)
  // Sources that were not compiled need the loader that runs them here, in the thread, too.
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const program = `import(${tsx}).then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`
  return new Worker(program, { ...options, eval: true })
}
