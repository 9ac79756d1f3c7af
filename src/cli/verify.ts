/** `petaldb verify`: checks whether everything in a database is as it was written. */
import type { DatabaseVerifyReport, VerifyProgress } from '../index.ts'
import { command } from './command.ts'
import { openToRead } from './database.ts'
import { formatDuration, formatNumberOf } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printOutcome } from './line-writer.ts'
import { problemLines } from './problems.ts'
import { type Position, showProgress } from './progress.ts'

export const verifyCommand = command({
  name: 'verify',
  summary: 'Checks the files of a database, every document and _id, and the index, without changing documents.',
  positionals: '<db>',
  options: {
    json: { type: 'boolean', help: 'print JSON' }
  },
  details: [
    'Problems are printed one per line, and the exit status is then 1. `petaldb repair` saves what can be read into a new',
    'database. `petaldb stats` prints the size of the database.'
  ],
  async run([location = ''], options) {
    using interrupt = new Interrupt()
    try {
      await using db = await openToRead(location)
      const started = performance.now()
      const { signal } = interrupt
      const start = { documents: 0, unit: 'tables' }
      const report = await showProgress(start, (show) =>
        db.verify({ signal, onProgress: (progress) => show(positionOf(progress)) })
      )
      const milliseconds = performance.now() - started
      await printOutcome(options.json === true ? JSON.stringify(report) : reportText(report, milliseconds))
      return report.problemCount === 0 ? 0 : 1
    } catch (error) {
      if (interrupt.status === undefined) throw error
      return interrupt.status
    }
  }
})

function positionOf({ collection, checked, total }: VerifyProgress): Position {
  return { documents: checked, unit: collection === undefined ? 'tables' : 'documents', totalDocuments: total }
}

function reportText(report: DatabaseVerifyReport, milliseconds: number): string {
  const { problems, problemCount } = report
  const found = problemCount === 0 ? 'no problems' : formatNumberOf('problem', problemCount)
  const scope = report.hasCheckedStore ? '' : '; its store does not support verification'
  const all = `${found} in ${formatNumberOf('document', report.documents)}, in ${formatDuration(milliseconds)}${scope}`
  return [...problemLines(problems, problemCount), all].join('\n')
}
