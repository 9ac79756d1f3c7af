/** Mutants by the promise that they break; scripts/mutants.mjs creates and runs them. */
import { bounds } from './bounds.mjs'
import { calls } from './calls.mjs'
import { changes } from './changes.mjs'
import { collations } from './collations.mjs'
import { compaction } from './compaction.mjs'
import { durability } from './durability.mjs'
import { exploring } from './exploring.mjs'
import { expressions } from './expressions.mjs'
import { fingerprints } from './fingerprints.mjs'
import { flushKernel } from './flush-kernel.mjs'
import { helpers } from './helpers.mjs'
import { ingests } from './ingests.mjs'
import { kept } from './kept.mjs'
import { kernels } from './kernels.mjs'
import { loads } from './loads.mjs'
import { memory } from './memory.mjs'
import { orders } from './orders.mjs'
import { pipelines } from './pipelines.mjs'
import { reading } from './reading.mjs'
import { rebuilds } from './rebuilds.mjs'
import { recovery } from './recovery.mjs'
import { slices } from './slices.mjs'
import { tallies } from './tallies.mjs'
import { transactions } from './transactions.mjs'
import { values } from './values.mjs'
import { wrappers } from './wrappers.mjs'

export const mutants = {
  'What is acknowledged is kept': durability,
  'What is read back is what was written': recovery,
  'What is merged reads as before': compaction,
  'What is read is of one moment': reading,
  'Lookups are full scans': values,
  'Bounds are sound': bounds,
  'Fingerprints are at all of their positions': fingerprints,
  'A flush in WebAssembly is one in JavaScript': flushKernel,
  'Kernels do what JavaScript would': kernels,
  "Memory that is used again is nobody's any more": memory,
  'What is kept decoded reads as what is stored': kept,
  'What an ingest brings is all there or none': ingests,
  'Threads import what one imports': loads,
  'What is built again is what was there': rebuilds,
  'Dates and ObjectIds are read from bytes as they are meant': wrappers,
  'Threads find what one thread finds': helpers,
  'The event loop breathes': slices,
  'The first of an order are the first': orders,
  'What the index counts is what documents say': tallies,
  'What documents have is what they say': exploring,
  'Strings compare as a collation has it': collations,
  'Pipelines mean what their stages mean': pipelines,
  'Expressions decide, whatever they imply': expressions,
  'A transaction is one write': transactions,
  'What is told is what was committed, and what expires what must': changes,
  'Calls do what is asked of them, or say that they do not': calls
}
