// Preloaded into a test that is run from its source: lets uvu report errors that it could not print.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { uvuThatTells } from './uvu-that-tells.mjs'

// Node runs load() in another thread, which loads this file again.
if (isMainThread) register(import.meta.url)

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  return url.endsWith('/uvu/dist/index.mjs') ? { ...loaded, source: uvuThatTells(String(loaded.source)) } : loaded
}
