// Preloaded into a test that is run from its source: lets it import our uvu.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { ourUvu } from './our-uvu.mjs'

// Node runs load() in another thread, which loads this file again.
if (isMainThread) register(import.meta.url)

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  return url.endsWith('/uvu/dist/index.mjs') ? { ...loaded, source: ourUvu(String(loaded.source)) } : loaded
}
