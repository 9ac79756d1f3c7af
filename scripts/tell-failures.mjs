// Preloaded into a test that is run from its source: lets uvu tell of errors that it cannot print.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { uvuThatTells } from './uvu-that-tells.mjs'

// Node runs load() in a thread of its own, which reads this file again.
if (isMainThread) register(import.meta.url)

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  return url.endsWith('/uvu/dist/index.mjs') ? { ...loaded, source: uvuThatTells(String(loaded.source)) } : loaded
}
