/** `petaldb repair`: saves what can still be read of a damaged database into a new one. */
import { type RepairResult, repairDatabase } from '../index.ts'
import { command } from './command.ts'
import { withoutAdvice } from './database.ts'
import { formatDuration, formatNumberOf, timedJson } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printOutcome } from './line-writer.ts'
import { problemLines } from './problems.ts'
import { showProgress } from './progress.ts'

export const repairCommand = command({
  name: 'repair',
  summary: 'Saves what can still be read of a damaged database into a new one, and tells what is lost.',
  positionals: '<db> <to>',
  options: {
    json: { type: 'boolean', help: 'print the result as JSON' }
  },
  details: [
    'The target directory must be new or empty, and appears only when all is saved and on disk. The damaged database must',
    'not be in use; its damaged files are moved to a directory `lost` inside it, and nothing of it is removed.'
  ],
  async run([from = '', to = ''], options) {
    using interrupt = new Interrupt()
    const started = performance.now()
    let result: RepairResult
    try {
      const { signal } = interrupt
      result = await showProgress({ documents: 0 }, (show) =>
        repairDatabase(from, to, { signal, onProgress: ({ documents }) => show({ documents }) })
      )
    } catch (error) {
      return interrupt.reportNotCreated(to, withoutAdvice(from, error))
    }
    const milliseconds = performance.now() - started
    await printOutcome(options.json === true ? timedJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

function resultText({ problems, problemCount, ...saved }: RepairResult, to: string, milliseconds: number): string {
  const what = formatNumberOf('document', saved.documents)
  const where = formatNumberOf('collection', saved.collections)
  const found = problemCount === 0 ? 'nothing was lost' : formatNumberOf('problem', problemCount)
  const all = `saved ${what} from ${where} to ${to} in ${formatDuration(milliseconds)}; ${found}`
  return [...problemLines(problems, problemCount), all].join('\n')
}
