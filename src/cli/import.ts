/** `petaldb import`: imports the JSON documents of a file into a collection, in bounded memory whatever the file. */
import { recycle } from '../docstore/import/line-source.ts'
import { maxThreads } from '../docstore/threads/threads-option.ts'
import { AbortedError, BadLine, type Collection, type ImportOptions } from '../index.ts'
import { command } from './command.ts'
import { openToWrite } from './database.ts'
import { UsageError } from './errors.ts'
import { formatCount, formatDuration, formatNumberOf } from './format.ts'
import { ImportInput } from './import-input.ts'
import { Interrupt } from './interrupt.ts'
import { printOutcome } from './line-writer.ts'
import { Progress } from './progress.ts'
import { Source } from './source.ts'
import { storeName, storeNames } from './store-name.ts'
import { wholeNumber } from './values.ts'

export const importCommand = command({
  name: 'import',
  summary: 'Imports the documents of a JSON file (lines or one array) into a database, creating it if necessary.',
  positionals: '<db> <file.json[.gz] | ->',
  options: {
    collection: { type: 'string', value: 'name', help: "collection to import into (default 'default')" },
    batch: { type: 'string', value: 'n', help: 'documents per batch (default 1000)' },
    threads: {
      type: 'string',
      value: 'n',
      help: 'additional threads for indexing (default 0 to 4, see below)'
    },
    strict: { type: 'boolean', help: 'stop at the first document that cannot be imported' },
    'skip-bad': { type: 'boolean', help: 'exit with status 0 even if some documents cannot be imported' },
    store: { type: 'string', value: storeNames.join('|'), help: 'storage engine of a new database (default lsm)' },
    json: { type: 'boolean', help: 'print the result as JSON' }
  },
  details: [
    'The file is newline-delimited JSON, an array of documents of any size, or documents that span several lines, as detected',
    'from its first bytes; "-" reads standard input; gzip is recognised by content. It may be Extended JSON, relaxed or',
    'canonical. Empty lines are ignored. A document that cannot be imported is reported with its number and skipped; the exit',
    'status is then 1, unless --skip-bad is given and other documents were imported. To import an array within an object,',
    'convert it to lines with jq:',
    '',
    '  jq -c ".features[]" map.json | petaldb import <db> -',
    '',
    'By default, --threads is the number of processors minus one, from 2 to 4, but at most one per GiB of memory, and 0 on a',
    'single processor.',
    '',
    'Ctrl-C finishes the current batch and closes the database; imported documents are kept.'
  ],
  async run([location = '', path = ''], options) {
    const batchDocuments = wholeNumber('--batch', options.batch ?? '1000', 1)
    const threads = options.threads === undefined ? undefined : wholeNumber('--threads', options.threads, 0, maxThreads)
    const store = storeName(options.store)
    const maySkip = options['skip-bad'] === true
    if (maySkip && options.strict === true) throw new UsageError('--strict and --skip-bad are mutually exclusive')
    using interrupt = new Interrupt()
    // Opened before the database, so that a mistyped file name does not leave an empty database behind.
    using source = await Source.open(path, interrupt.signal)
    await using db = await openToWrite(location, { store })
    const collection = options.collection === undefined ? db : db.collection(options.collection)

    const started = performance.now()
    const outcome = await importAll(source, interrupt.signal, collection, {
      batch: batchDocuments,
      ...(threads !== undefined && { threads }),
      strict: options.strict === true
    })
    const failure = outcome.failure ?? (await errorOf(db.close()))
    const milliseconds = performance.now() - started
    const summary = { ...outcome, failure, milliseconds, isInterrupted: interrupt.status !== undefined }
    await printOutcome(options.json === true ? summaryJson(summary) : summaryText(summary))
    if (failure !== undefined) throw failure
    const { imported, skipped, isStopped } = outcome
    const hasLost = skipped > 0 && !(maySkip && imported > 0)
    if (isStopped) return 1
    if (hasLost) {
      const advice = maySkip || imported === 0 ? '' : '; with --skip-bad this is not a failure'
      process.stderr.write(`petaldb import: ${lost(skipped)}${advice}\n`)
    }
    return interrupt.status ?? (hasLost ? 1 : 0)
  }
})

function lost(skipped: number): string {
  return `${formatNumberOf('document', skipped)} ${skipped === 1 ? 'was' : 'were'} skipped`
}

interface Outcome {
  readonly imported: number
  readonly skipped: number
  /** A bad line ended the import because of --strict. */
  readonly isStopped: boolean
  /** Any other error that ended the import: reading the file or writing to the store failed. */
  readonly failure: unknown
}

async function importAll(
  source: Source,
  signal: AbortSignal,
  collection: Collection,
  options: ImportOptions
): Promise<Outcome> {
  let imported = 0
  let skipped = 0
  using progress = new Progress(() => ({
    documents: imported,
    bytes: source.bytesRead,
    totalBytes: source.totalBytes
  }))
  const input = new ImportInput(source, signal)
  const skip = (bad: BadLine): void => {
    skipped++
    progress.note(`petaldb: ${input.place(bad.line)}: ${bad.problem}`)
  }
  try {
    const lines = {
      [Symbol.asyncIterator]: () => input.lines(),
      [recycle]: (chunk: Uint8Array) => input.recycle(chunk)
    }
    await collection.importLines(lines, {
      ...options,
      sourceBytes: source.contentBytes,
      signal,
      onSkipped: skip,
      onProgress: ({ insertedCount }) => {
        imported = insertedCount
      }
    })
  } catch (failure) {
    if (failure instanceof BadLine) {
      skip(failure)
      return { imported, skipped, isStopped: true, failure: undefined }
    }
    const isInterrupted = failure instanceof AbortedError && signal.aborted
    return { imported, skipped, isStopped: false, failure: isInterrupted ? undefined : failure }
  }
  return { imported, skipped, isStopped: false, failure: undefined }
}

/** Returns the rejection reason of a promise; undefined if it is fulfilled. */
async function errorOf(promise: Promise<void>): Promise<unknown> {
  try {
    await promise
    return undefined
  } catch (error) {
    return error
  }
}

interface Summary extends Outcome {
  readonly milliseconds: number
  readonly isInterrupted: boolean
}

function summaryText({ imported, skipped, milliseconds, isInterrupted, isStopped, failure }: Summary): string {
  const rate = `${formatCount(perSecond(imported, milliseconds))} documents/s`
  const isCut = failure !== undefined
  const end = isCut ? '; failed' : isStopped ? '; stopped at a bad line' : isInterrupted ? '; interrupted' : ''
  const documents = formatNumberOf('document', imported)
  return `imported ${documents}, skipped ${formatCount(skipped)}, in ${formatDuration(milliseconds)} (${rate})${end}`
}

function summaryJson({ imported, skipped, milliseconds, isInterrupted, isStopped }: Summary): string {
  const documentsPerSecond = Math.round(perSecond(imported, milliseconds))
  const seconds = Math.round(milliseconds) / 1000
  return JSON.stringify({ imported, skipped, seconds, documentsPerSecond, isInterrupted, isStopped })
}

function perSecond(count: number, milliseconds: number): number {
  return milliseconds === 0 ? 0 : (count / milliseconds) * 1000
}
