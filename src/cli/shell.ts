/** `petaldb shell`: an interactive prompt for a database. */
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { command } from './command.ts'
import { openExisting } from './database.ts'
import { formatCount } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { hasColours } from './pretty-json.ts'
import { Evaluator } from './shell-evaluator.ts'
import { LineHistory } from './shell-history.ts'
import { pageDocuments, ShellOutput } from './shell-output.ts'
import { ShellSession } from './shell-session.ts'

const historyName = '.petaldb_history'

export const shellCommand = command({
  name: 'shell',
  summary: 'Opens a prompt: ask, look, ask again, in JavaScript, with the database in db.',
  positionals: '<db>',
  options: {},
  details: [
    `What a line gives is waited for and shown, of a cursor ${pageDocuments} documents at a time; .more shows the next ones. db is the`,
    'database, and its methods are those of the library; ObjectId("…"), ISODate("…"), UUID("…"), NumberLong(…), NumberDecimal(…) and',
    'the other BSON types are there. show collections names the collections.',
    'Ctrl-C ends a question, Ctrl-D or .exit the shell. Without a terminal lines are read from standard input, and all',
    'documents of a cursor shown:',
    '',
    '  echo \'db.distinct("lang")\' | petaldb shell tweets.db'
  ],
  async run([location = '']) {
    using interrupt = new Interrupt()
    await using db = await openExisting(location)
    const evaluator = new Evaluator({ db })
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
    const output = new ShellOutput(process.stdout, {
      page: isTerminal ? pageDocuments : Number.POSITIVE_INFINITY,
      isTimed: isTerminal,
      isColoured: hasColours(process.stdout)
    })
    const history = new LineHistory(isTerminal ? join(homedir(), historyName) : undefined)
    const count = formatCount(await db.estimatedDocumentCount())
    // No await from here until lines are read: lines that arrive in between would be lost.
    const lines = createInterface({
      input: process.stdin,
      ...(isTerminal && { output: process.stdout, completer: evaluator.complete }),
      terminal: isTerminal,
      history: history.load()
    })
    lines.on('history', (kept: string[]) => history.note(kept))
    if (isTerminal) process.stdout.write(`${count} documents in db; db.paths() tells what they have. .help, .exit\n`)
    const session = new ShellSession({ lines, evaluator, output, prompt: isTerminal ? `${basename(location)}> ` : '' })
    interrupt.signal.addEventListener('abort', () => session.stop())
    const tell = (error: unknown): void => session.reportError(error)
    process.on('unhandledRejection', tell).on('uncaughtException', tell)
    try {
      await session.run()
    } finally {
      process.off('unhandledRejection', tell).off('uncaughtException', tell)
      await output.end()
      history.save()
    }
    return interrupt.status ?? (session.hasFailed && !isTerminal ? 1 : 0)
  }
})
