// Preloaded into every test process: lets uvu tell of errors that it cannot print. It takes `details` for a text and every
// error for an Error; on others it dies in the middle of its report, and what failed is counted but not told.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Node runs load() in a thread of its own, which reads this file again.
if (isMainThread) register(import.meta.url)

const original = "let { details, operator='' } = err;"
const careful = `if (!(err instanceof Error)) err = new Error('not an Error: ' + String(err));
	let { operator='' } = err, details = typeof err.details === 'string' ? err.details : undefined;`

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  if (!url.endsWith('/uvu/dist/index.mjs')) return loaded
  return { ...loaded, source: String(loaded.source).replace(original, careful) }
}
