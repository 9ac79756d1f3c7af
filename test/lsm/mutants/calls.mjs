/** Calls do what is requested, or report that they do not. */
import { edit, mutant } from './mutant.mjs'

export const calls = [
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
  )
]
