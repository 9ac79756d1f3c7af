/** `petaldb compact`: merges the tables of a database, until deleted documents take no more space. */
import type { CompactResult } from '../index.ts'
import { command } from './command.ts'
import { openExisting } from './database.ts'
import { formatBytes, formatDuration, timedJson } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { showProgress } from './progress.ts'

export const compactCommand = command({
  name: 'compact',
  summary: 'Merges the tables of a database, so that replaced and deleted documents no longer take space.',
  positionals: '<db>',
  options: {
    json: { type: 'boolean', help: 'print the result as JSON' }
  },
  details: ['Ctrl-C is safe: the command stops after the merge in progress.'],
  async run([location = ''], options) {
    using interrupt = new Interrupt()
    try {
      await using db = await openExisting(location)
      const started = performance.now()
      const { signal } = interrupt
      const result = await showProgress({ bytes: 0 }, (onProgress) => db.compact({ signal, onProgress }))
      await db.close()
      const milliseconds = performance.now() - started
      await printLine(options.json === true ? timedJson(result, milliseconds) : resultText(result, milliseconds))
      return 0
    } catch (error) {
      if (interrupt.status === undefined) throw error
      return interrupt.status
    }
  }
})

function resultText({ bytesBefore = 0, bytesAfter = 0 }: CompactResult, milliseconds: number): string {
  return `compacted ${formatBytes(bytesBefore)} to ${formatBytes(bytesAfter)}, in ${formatDuration(milliseconds)}`
}
