/** `petaldb backup`: copies a database as it is into a new directory. */
import type { BackupProgress, BackupResult } from '../index.ts'
import { command } from './command.ts'
import { openExisting } from './database.ts'
import { formatBytes, formatDuration } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { Progress } from './progress.ts'

export const backupCommand = command({
  name: 'backup',
  summary: 'Copies the files of a database into a new directory, in no time where both are on one file system.',
  positionals: '<db> <directory>',
  options: {
    json: { type: 'boolean', help: 'print the outcome as JSON' }
  },
  details: [
    'The directory appears under its name when it is complete and on the disk; nothing but an empty directory may have that',
    'name. Ctrl-C leaves nothing of it. Where the file system allows it, tables are the same files in both: they take no',
    'room, and each database can be changed or removed without the other. Against a broken disk, back up to another one.',
    'A program that has the database open makes a backup by db.backup(directory), while it goes on reading and writing.'
  ],
  async run([location = '', to = ''], options) {
    using interrupt = new Interrupt()
    const started = performance.now()
    let result: BackupResult
    try {
      await using db = await openExisting(location)
      let position: BackupProgress = { bytes: 0, totalBytes: undefined }
      using _ = new Progress(() => position)
      result = await db.backup(to, {
        signal: interrupt.signal,
        onProgress: (progress) => {
          position = progress
        }
      })
    } catch (error) {
      return interrupt.reportNotCreated(to, error)
    }
    // The backup exists: a signal that comes now is too late to count as a failure.
    const milliseconds = performance.now() - started
    await printLine(options.json === true ? resultJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

function resultText({ bytes, linkedBytes }: BackupResult, to: string, milliseconds: number): string {
  const shared = linkedBytes === 0 ? '' : `, ${formatBytes(linkedBytes)} of them shared with it`
  return `backed up ${formatBytes(bytes)} to ${to}${shared}, in ${formatDuration(milliseconds)}`
}

function resultJson({ bytes, linkedBytes }: BackupResult, milliseconds: number): string {
  return JSON.stringify({ bytes, linkedBytes, seconds: Math.round(milliseconds) / 1000 })
}
