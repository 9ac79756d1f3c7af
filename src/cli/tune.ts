/** `petaldb tune`: compares the cost and accuracy of other index parameters, and chooses the best. */
import type { TuneOptions } from '../index.ts'
import { command } from './command.ts'
import { existingCollection, openExisting, openToRead } from './database.ts'
import { UsageError } from './errors.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { readQueryLog } from './query-log.ts'
import { tuneReport } from './tune-report.ts'
import { wholeNumber } from './values.ts'

export const tuneCommand = command({
  name: 'tune',
  summary: 'Compares index parameters on a sample of the documents, and adopts the best.',
  positionals: '<db>',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to tune (default 'default')" },
    queries: {
      type: 'string',
      value: 'log.ndjson',
      help: 'queries to optimise for: filters, or {"filter": …, "count": n}'
    },
    'target-fpr': { type: 'string', value: 'rate', help: 'false positives per query and document (default 2e-5)' },
    budget: {
      type: 'string',
      value: 'bytes',
      help: 'maximum size of the index; without --target-fpr, false positives are minimised within it'
    },
    sample: { type: 'string', value: 'n', help: 'number of documents in the sample (default 20000)' },
    'dry-run': { type: 'boolean', help: 'change nothing' },
    json: { type: 'boolean', help: 'print JSON' }
  },
  details: [
    'The choice applies to future segments, and to all segments once the index is rebuilt.',
    '',
    '  petaldb tune tweets.db --queries log.ndjson --target-fpr 1e-5 --dry-run'
  ],
  async run([location = ''], options) {
    const numbers: Pick<TuneOptions, 'sample' | 'targetFpr' | 'budgetBytes'> = {
      ...(options.sample !== undefined && { sample: wholeNumber('--sample', options.sample, 1) }),
      ...(options['target-fpr'] !== undefined && { targetFpr: rate('--target-fpr', options['target-fpr']) }),
      ...(options.budget !== undefined && { budgetBytes: wholeNumber('--budget', options.budget, 1) })
    }
    using interrupt = new Interrupt()
    const { signal } = interrupt
    try {
      const queries = options.queries === undefined ? undefined : await readQueryLog(options.queries, signal)
      const dryRun = options['dry-run'] === true
      await using db = await (dryRun ? openToRead(location) : openExisting(location))
      const collection = await existingCollection(db, options.collection)
      const result = await collection.index.tune({
        ...numbers,
        ...(queries !== undefined && { queries }),
        dryRun,
        signal
      })
      const documents = await collection.estimatedDocumentCount()
      await printLine(options.json === true ? JSON.stringify(result) : tuneReport(result, documents))
    } catch (error) {
      if (interrupt.status === undefined) throw error
    }
    return interrupt.status ?? 0
  }
})

/** @throws UsageError unless the text is a number between 0 and 1, such as 1e-4 */
function rate(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value > 0 && value < 1) return value
  throw new UsageError(`${name} takes a rate between 0 and 1 such as 1e-4, got '${text}'`)
}
