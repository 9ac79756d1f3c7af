/** `petaldb copy`: copies a database into a new one, in the same storage engine or another. */
import { type CopyResult, copyDatabase } from '../index.ts'
import { command } from './command.ts'
import { openToRead } from './database.ts'
import { formatDuration, formatNumberOf, timedJson } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { showProgress } from './progress.ts'
import { storeName, storeNames } from './store-name.ts'

export const copyCommand = command({
  name: 'copy',
  summary:
    'Copies a database into a new one, optionally on another storage engine, and checks that the copy is complete.',
  positionals: '<from> <to>',
  options: {
    store: { type: 'string', value: storeNames.join('|'), help: 'storage engine of the new database (default lsm)' },
    json: { type: 'boolean', help: 'print the result as JSON' }
  },
  details: [
    'The target directory must be new or empty, and appears only when the copy is complete and on disk; Ctrl-C leaves',
    'nothing behind. The old database is not changed.'
  ],
  async run([from = '', to = ''], options) {
    const store = storeName(options.store)
    using interrupt = new Interrupt()
    const started = performance.now()
    let result: CopyResult
    try {
      await using source = await openToRead(from)
      const { signal } = interrupt
      result = await showProgress({ documents: 0 }, (onProgress) =>
        copyDatabase(source, to, { store, signal, onProgress })
      )
    } catch (error) {
      return interrupt.reportNotCreated(to, error)
    }
    // The copy exists: a signal that comes now is too late to count as a failure.
    const milliseconds = performance.now() - started
    await printLine(options.json === true ? timedJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

function resultText({ collections, documents }: CopyResult, to: string, milliseconds: number): string {
  const what = formatNumberOf('document', documents)
  const where = formatNumberOf('collection', collections)
  return `copied ${what} from ${where} to ${to} in ${formatDuration(milliseconds)}`
}
