/** `petaldb shell`: an interactive prompt for a database. */
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { command } from './command.ts'
import { openToWriteOrRead } from './database.ts'
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
  summary: 'Opens an interactive JavaScript prompt, with the database as db.',
  positionals: '<db>',
  options: {},
  details: [
    `The result of a line is awaited and shown, ${pageDocuments} documents of a cursor at a time; .more shows the next ones. db is the`,
    'database, with the methods of the library; ObjectId("…"), ISODate("…"), UUID("…"), NumberLong(…), NumberDecimal(…)',
    'and the other BSON types are available. show collections lists the collections.',
    'Ctrl-C interrupts a query; Ctrl-D or .exit leaves the shell. Without a terminal, lines are read from standard input, and',
    'all documents of a cursor are shown:',
    '',
    '  echo \'db.distinct("lang")\' | petaldb shell tweets.db'
  ],
  async run([location = '']) {
    using interrupt = new Interrupt()
    await using db = await openToWriteOrRead(location)
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
    if (isTerminal)
      process.stdout.write(`${count} documents in db; db.paths() lists their paths. Type .help or .exit.\n`)
    const session = new ShellSession({ lines, evaluator, output, prompt: isTerminal ? `${basename(location)}> ` : '' })
    interrupt.signal.addEventListener('abort', () => session.stop())
    const tell = (error: unknown): void => session.reportError(error)
    const giveUp = (): void => session.giveUp()
    process.on('unhandledRejection', tell).on('uncaughtException', tell).on('beforeExit', giveUp)
    try {
      await session.run()
      // What lines have started, and nobody awaits, may still fail: writes do so until the database is closed.
      await db.close()
      await setImmediate()
    } finally {
      process.off('unhandledRejection', tell).off('uncaughtException', tell).off('beforeExit', giveUp)
      await output.end()
      history.save()
    }
    return interrupt.status ?? (session.hasFailed && !isTerminal ? 1 : 0)
  }
})
