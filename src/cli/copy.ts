/** `petaldb copy`: copies a database into a new one, in the same storage engine or another. */
import { type CopyResult, copyDatabase } from '../index.ts'
import { command } from './command.ts'
import { openExisting } from './database.ts'
import { formatDuration, formatNumberOf } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { Progress } from './progress.ts'
import { storeName, storeNames } from './store-name.ts'

export const copyCommand = command({
  name: 'copy',
  summary: 'Copies a database into a new one, which another engine may keep, and checks that all of it arrived.',
  positionals: '<from> <to>',
  options: {
    store: { type: 'string', value: storeNames.join('|'), help: 'engine of the new database (default lsm)' },
    json: { type: 'boolean', help: 'print the outcome as JSON' }
  },
  details: [
    'The new database appears under its name when it is complete and on the disk; nothing but an empty directory',
    'may have that name. Ctrl-C leaves nothing of it, and the old one as it is.'
  ],
  async run([from = '', to = ''], options) {
    const store = storeName(options.store)
    using interrupt = new Interrupt()
    const started = performance.now()
    let result: CopyResult
    try {
      await using source = await openExisting(from)
      const position = { documents: 0, totalDocuments: 0 }
      // A progress bar needs a part and a total, in any unit.
      using _ = new Progress(() => ({
        documents: position.documents,
        bytes: position.documents,
        totalBytes: position.totalDocuments
      }))
      result = await copyDatabase(source, to, {
        store,
        signal: interrupt.signal,
        onProgress: (progress) => {
          Object.assign(position, progress)
        }
      })
    } catch (error) {
      return interrupt.reportNotCreated(to, error)
    }
    // The copy exists: a signal that comes now is too late to count as a failure.
    const milliseconds = performance.now() - started
    await printLine(options.json === true ? resultJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

function resultText({ collections, documents }: CopyResult, to: string, milliseconds: number): string {
  const what = formatNumberOf('document', documents)
  const where = formatNumberOf('collection', collections)
  return `copied ${what} of ${where} to ${to} in ${formatDuration(milliseconds)}`
}

function resultJson({ collections, documents }: CopyResult, milliseconds: number): string {
  return JSON.stringify({ collections, documents, seconds: Math.round(milliseconds) / 1000 })
}
