/** Calls do what is requested, or report that they do not. */
import { edit, mutant } from './mutant.mjs'

const groups = 'docstore/write/mutation-groups'
const shared = 'docstore/shared-commits'

export const calls = [
  mutant(
    'branches without an equality on the common path are forgotten',
    edit('query/branch-lookup', 'return isFound(document) || others.some(holds)', 'return isFound(document)'),
    'query/branch-lookup'
  ),
  mutant(
    'a filter used inside itself loses its document',
    edit('query/branch-lookup', 'current = outer', 'current = undefined'),
    'query/branch-lookup'
  ),
  mutant(
    'an index that is still being built is reported as built',
    edit('docstore/indexes/create-index', 'await waitForBuild(index, options.signal)', 'return wanted.name'),
    'docstore/indexes-build'
  ),
  mutant(
    'a call accepts unknown options',
    edit('docstore/known-options', "if (option === 'session' && value === null) continue", 'continue'),
    'docstore/open-options',
    'docstore/call-arguments'
  ),
  mutant(
    'changes of the same document share a batch',
    edit(groups, 'return keys.add(keyOf(call)).size > size', 'return keys.add(keyOf(call)).size > 0'),
    shared
  ),
  mutant(
    'an update and a deletion share a batch',
    edit(groups, 'if (call.kind !== first.kind) return false', ''),
    shared
  ),
  mutant(
    'an upsert is inserted before the changes that precede it in its group',
    edit(groups, 'continue\n    }\n    await commit()\n', 'continue\n      await commit()\n    }\n'),
    shared
  ),
  mutant(
    'a change that fails takes the rest of its group with it',
    edit(groups, 'reject(error)\n      continue', 'throw error'),
    shared
  ),
  mutant(
    'calls wait for all the slow ones of their group',
    edit(groups, ' && performance.now() - begun <= maxMilliseconds', ''),
    shared
  ),
  mutant(
    'an ordered bulkWrite() does not wait for one operation before the next',
    edit('docstore/write/bulk-write', 'isOrdered ? 1 : target.atOnce', 'maxAtOnce'),
    shared
  ),
  mutant(
    'a call joins a group queued before another write',
    edit('docstore/write/writer', 'for (const groups of this.#groups) groups.end()', ''),
    shared
  ),
  mutant(
    'maxTimeMS of a write begins when its turn comes',
    edit(
      'docstore/write/until-aborted',
      'control.remainingMilliseconds === undefined ? done : untilExpired(done, control, isWaiting)',
      'done'
    ),
    'docstore/time-limit'
  ),
  mutant(
    'the end of a short insertMany() is handed over after calls that came later',
    edit('docstore/write/insert-many', '    await inserts.end()\n', ''),
    'docstore/isolation'
  ),
  mutant(
    'an asynchronous $where passes for every document',
    edit('query/matcher', 'if (isThenable(passes)) throw promiseRefused(passes)\n', '\n'),
    'query/filter-logical'
  )
]
