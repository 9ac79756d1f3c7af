/** `petaldb backup`: copies a database as it is into a new directory. */
import type { BackupResult } from '../index.ts'
import { command } from './command.ts'
import { openToRead } from './database.ts'
import { formatBytes, formatDuration, timedJson } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { showProgress } from './progress.ts'

export const backupCommand = command({
  name: 'backup',
  summary: 'Copies the files of a database into a new directory, almost instantly on the same file system.',
  positionals: '<db> <directory>',
  options: {
    json: { type: 'boolean', help: 'print the result as JSON' }
  },
  details: [
    'The directory must be new or empty, and appears only when the backup is complete and on disk; Ctrl-C leaves nothing',
    'behind. Where the file system supports hard links, the backup shares table files with the database: they take no extra',
    'space, and either one can be changed or removed without affecting the other. To guard against disk failure, back up',
    'to another disk. A program that has the database open can call db.backup(directory) while it reads and writes.'
  ],
  async run([location = '', to = ''], options) {
    using interrupt = new Interrupt()
    const started = performance.now()
    let result: BackupResult
    try {
      await using db = await openToRead(location)
      const { signal } = interrupt
      result = await showProgress({ bytes: 0 }, (onProgress) => db.backup(to, { signal, onProgress }))
    } catch (error) {
      return interrupt.reportNotCreated(to, error)
    }
    // The backup exists: a signal that comes now is too late to count as a failure.
    const milliseconds = performance.now() - started
    await printLine(options.json === true ? timedJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

function resultText({ bytes, linkedBytes }: BackupResult, to: string, milliseconds: number): string {
  const shared = linkedBytes === 0 ? '' : `, ${formatBytes(linkedBytes)} of it shared with the database`
  return `backed up ${formatBytes(bytes)} to ${to}${shared}, in ${formatDuration(milliseconds)}`
}
