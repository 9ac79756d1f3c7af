/** Calls do what is asked of them, or say that they do not. */
import { edit, mutant } from './mutant.mjs'

export const calls = [
  mutant(
    'an index that is still being built is taken for built',
    edit('docstore/indexes/create-index', 'await ended(index, options.signal)', 'return wanted.name'),
    'docstore/indexes-build'
  ),
  mutant(
    'an option that a call does not know is taken',
    edit('docstore/known-options', "if (option === 'session' && value === null) continue", 'continue'),
    'docstore/open-options',
    'docstore/call-arguments'
  )
]
