/** `petaldb shell`: answers line after line, from a pipe or at a terminal. */
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { ObjectId, UUID } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Evaluator } from '../../src/cli/shell-evaluator.ts'
import { pageDocuments, ShellOutput } from '../../src/cli/shell-output.ts'
import { ShellSession } from '../../src/cli/shell-session.ts'
import { type Database, open } from '../../src/index.ts'
import { inTemporaryDirectory, linesOf, runCli, startCli } from './run-cli.ts'

async function fill(path: string): Promise<void> {
  await using db = await open(path)
  await db.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, lang: `l${i % 3}`, at: new Date(i) })))
}

test('piped lines are answered in order, and promises and cursors are awaited', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const { code, stdout } = await runCli(
      ['shell', path('db')],
      [
        "db.find({ lang: 'l1' }, { limit: 2, projection: { _id: 1 } })",
        'await db.countDocuments({ at: { $gte: new Date(20) } })',
        "db.distinct('lang')",
        '',
        'const n = await db.estimatedDocumentCount()',
        'n + 1',
        'const n = 7',
        '{ n }',
        'const { a, b } = await Promise.resolve({ a: 1, b: 2 });',
        'a + b',
        'for (const lang of ["l0", "l1"]) console.log(await db.countDocuments({ lang }))',
        'db.find(',
        '  { _id: 3 }',
        ')',
        'undefined',
        "db.get(3).then(({ lang }) => lang + '!')",
        'db.find({ lang: { $ne: "l0" } }).map(({ _id }) => _id)',
        'quit',
        '"not reached"'
      ].join('\n')
    )
    assert.equal(linesOf(stdout), [
      '{ _id: 1 }',
      '{ _id: 4 }',
      '30',
      "[ 'l0', 'l1', 'l2' ]",
      '51',
      '{ n: 7 }',
      '3',
      '17',
      '17',
      "{ _id: 3, lang: 'l0', at: 1970-01-01T00:00:00.003Z }",
      "'l0!'",
      ...Array.from({ length: 50 }, (_, i) => String(i)).filter((_, i) => i % 3 > 0)
    ])
    assert.is(code, 0)
  }))

test('await is allowed in every statement, of several on a line and over several lines, and names persist', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const { code, stdout } = await runCli(
      ['shell', path('db')],
      [
        'const first = await db.findOne({ _id: 4 }); first.lang',
        'first._id',
        'let n = 0; for await (const { _id } of db.find()) n += _id; n;',
        'const text = "a; b"; await db.countDocuments({ lang: text }) // or; so; 1',
        'if (n < 0) await db.get(1); else await db.get(2); "either"',
        'for (let i = 0; i < 2; i++) await db.get(i)',
        'await (db.estimatedDocumentCount())',
        'for await (const { _id } of db.find().limit(2)) {',
        '  console.log(_id)',
        '}',
        'try {',
        '  await db.get()',
        '} catch ({ codeName }) {',
        '  console.log(codeName)',
        '}',
        'async function langOf(id) {',
        '  const { lang } = await db.get(id)',
        '  return lang',
        '}',
        'langOf(5)',
        'const found = await db.find({',
        '  _id: { $in: [6, 7] }',
        '}).toArray(); found.length',
        'await db.countDocuments(); db.find({ _id: 8 }).project({ _id: 1 })',
        '/* what comes',
        'next */ 1 + /* and',
        'within */ 10'
      ].join('\n')
    )
    assert.equal(linesOf(stdout), [
      ...["'l1'", '4', '1225', '0', "'either'", '50', '0', '1', 'BadValue', "'l2'", '2', '{ _id: 8 }', '11']
    ])
    assert.is(code, 0)
  }))

test('a result that can never arrive is reported, and the following lines are answered', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const lines = ['db.watch()', 'await new Promise(() => {})', 'db.watch().next()', '1 + 1']
    const { code, stdout } = await runCli(['shell', path('db')], lines.join('\n'))
    const never = 'The result will never arrive: nothing is left that it could be waiting for'
    assert.equal(linesOf(stdout), [never, never, never, '2'])
    assert.is(code, 1)
  }))

test('ObjectId(), ISODate() and the like work as in the MongoDB shell, and so do show commands', () =>
  inTemporaryDirectory(async (path) => {
    const hex = '0123456789abcdef01234567'
    const uuid = '01234567-89ab-4def-8123-456789abcdef'
    await using db = await open(path('db'))
    await db.insertOne({ _id: new ObjectId(hex), at: new Date(Date.UTC(2024, 0, 2, 3, 4)), u: new UUID(uuid), n: -5n })
    await db.collection('people').insertOne({})
    await db.close()
    const { code, stdout } = await runCli(
      ['shell', path('db')],
      [
        `db.countDocuments({ _id: ObjectId("${hex}") })`,
        `db.countDocuments({ _id: new ObjectId("${hex}") })`,
        `db.countDocuments({ u: UUID("${uuid}") })`,
        'db.countDocuments({ at: ISODate("2024-01-02T03:04") })',
        'db.countDocuments({ at: ISODate("2024-01-02T05:04:00+02:00") })',
        'db.countDocuments({ at: { $gt: ISODate("2024-01-02") } })',
        'db.countDocuments({ n: { $in: [NumberLong(-5)] } })',
        'db.countDocuments({ n: NumberLong("-5") })',
        'db.countDocuments({ n: { $gt: NumberDecimal("-5.5"), $lt: NumberDecimal(-4.5) } })',
        'ObjectId() instanceof ObjectId && ObjectId().toHexString().length === 24',
        'ObjectId.isValid("x")',
        'String(NumberLong("9007199254740993"))',
        'Math.abs(ISODate() - new Date()) < 1000',
        'ISODate("soon")',
        'show collections',
        'show collections;',
        'show dbs',
        'show users'
      ].join('\n')
    )
    assert.equal(linesOf(stdout), [
      ...Array.from({ length: 9 }, () => '1'),
      'true',
      'false',
      "'9007199254740993'",
      'true',
      "'soon' is not an ISO 8601 date (BadValue)",
      "[ 'default', 'people' ]",
      "[ 'default', 'people' ]",
      'a directory holds a single database, which is db; show collections lists its collections',
      'there is no command show users; show collections lists the collections'
    ])
    assert.is(code, 1)
  }))

test('lines that arrive before the database is open are answered, however long opening takes', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    // Whenever the clock is read, the turn seems to have been long.
    const slowly = 'let n = 0; const { now } = performance; performance.now = () => now.call(performance) + (n += 5)'
    const child = startCli(['shell', path('db')], ['--import', `data:text/javascript,${encodeURIComponent(slowly)}`])
    child.process.stdin.end('1 + 1\ndb.countDocuments()\n')
    const { code, stdout } = await child.outcome
    assert.equal(linesOf(stdout), ['2', '50'])
    assert.is(code, 0)
  }))

test('errors are reported, and the following lines are answered', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const { code, stdout } = await runCli(
      ['shell', path('db')],
      ['db.find({ $x: 1 })', 'f(a b)', 'null.x', '.nothing', 'const p = db.find({ $y: 1 }).toArray()', '1 + 1'].join(
        '\n'
      )
    )
    assert.is(code, 1)
    assert.match(stdout, /^\$x: unknown top level operator \(BadValue\)$/m)
    assert.match(stdout, /^Uncaught shell:1\nf\(a b\)\n {2}\^\n\nSyntaxError: missing \) after argument list\n/m)
    assert.match(stdout, /^TypeError: Cannot read properties of null \(reading 'x'\)\n {4}at shell:1:6$/m)
    assert.match(stdout, /^there is no command \.nothing; \.help lists the commands$/m)
    assert.match(stdout, /^\$y: unknown top level operator \(BadValue\)$/m)
    assert.match(stdout, /^2$/m)
    assert.is((await runCli(['shell', path('none')])).code, 1)
  }))

test('what lines have started and not awaited is reported, also if it fails after the last of them', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const isLong = 'for (const end = Date.now() + 20; Date.now() < end; );'
    for (const last of ['', 'const q = db.insertOne({ _id: 4 })']) {
      const lines = [isLong, 'const p = db.find({ $y: 1 }).toArray()', last]
      const { code, stdout, stderr } = await runCli(['shell', path('db')], lines.join('\n'))
      assert.is(stderr, '')
      assert.match(stdout, /^\$y: unknown top level operator \(BadValue\)$/m)
      if (last !== '') assert.match(stdout, /^E11000 .* \(DuplicateKey\)$/m)
      assert.is(code, 1)
    }
  }))

test('piped input that ends within a statement is reported and not run', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const statements = ['db.insertOne({ _id: "x" }', 'db.deleteMany(\n  {}', '{ a:', 'await db.get(', '/* db.drop()']
    for (const unfinished of statements) {
      const { code, stdout } = await runCli(['shell', path('db')], `1 + 1\n${unfinished}`)
      assert.is(stdout, `2\nThe input ends within a statement:\n${unfinished}\n`)
      assert.is(code, 1, unfinished)
    }
    assert.is((await runCli(['shell', path('db')], 'db.find(\n\n)')).code, 0)
    assert.is((await runCli(['count', path('db')])).stdout, '50\n')
  }))

const enter = '\r'
const interrupt = '\u0003'

/** A simulated terminal. */
class Terminal {
  readonly #input = new PassThrough()
  readonly #output = new PassThrough()
  readonly #session: ShellSession
  readonly running: Promise<void>
  #shown = ''

  constructor(db: Database) {
    const evaluator = new Evaluator({ db })
    const [input, output] = [this.#input, this.#output]
    output.setEncoding('utf8').on('data', (text: string) => {
      this.#shown += stripVTControlCharacters(text)
    })
    const lines = createInterface({ input, output, terminal: true, completer: evaluator.complete })
    const shown = new ShellOutput(output, { page: pageDocuments, isTimed: true, isColoured: false })
    this.#session = new ShellSession({ lines, evaluator, output: shown, prompt: 'db> ' })
    this.running = this.#session.run()
  }

  /** Types keys and waits for output that matches. @returns the output since then */
  async type(keys: string, awaited: RegExp): Promise<string> {
    this.#shown = ''
    this.#input.write(keys)
    for (let i = 0; i < 1000; i++) {
      if (awaited.test(this.#shown)) return this.#shown
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error(`no ${awaited}: ${this.#shown}`)
  }
}

test('a cursor is shown in pages, and Ctrl-C ends the current command but not the shell', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    await using db = await open(path('db'))
    const terminal = new Terminal(db)
    const first = await terminal.type(`db.find()${enter}`, /\.more shows the next ones in .*\n/)
    assert.is(first.match(/_id:/g)?.length, pageDocuments)
    await terminal.type(`.more${enter}`, /-- 20 documents; \.more shows the next ones in /)
    await terminal.type(`.more${enter}`, /-- 10 documents in /)
    await terminal.type(`.more${enter}`, /there is nothing more to show\n/)
    // Nothing changes, so that this waits for ever.
    await terminal.type(`db.watch()${enter}`, /watch\(\)\r?\n/)
    const ended = await terminal.type(interrupt, /interrupted\n[\s\S]*db> /)
    assert.not.match(ended, /documents in/)
    await terminal.type(`await new Promise(() => {})${enter}`, /\{\}\)\r?\n/)
    await terminal.type(interrupt, /no longer waiting for the result\n/)
    await terminal.type(`db.find({${enter}`, /\.\.\. /)
    await terminal.type(interrupt, /db> /)
    await terminal.type('half a line', /half a line/)
    await terminal.type(interrupt, /db> /)
    await terminal.type(interrupt, /\.exit or Ctrl-D leaves the shell/)
    await terminal.type('db.countDoc', /countDoc/)
    await terminal.type('\t', /uments/)
    await terminal.type(`({ lang: 'l0' })${enter}`, /\n17\n/)
    await terminal.type(`help${enter}`, /db is the database/)
    await terminal.type(`exit${enter}`, /exit/)
    await terminal.running
  }))

/** Finds the documents 0 to 2 and then fails. */
const failing = 'db.find().sort({ _id: 1 }).map((found) => found._id < 3 ? found : null.three)'

test('documents are shown as they are found, and never with the answer to a later line', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    await using db = await open(path('db'))
    const terminal = new Terminal(db)
    await terminal.type(`const events = db.watch(); 1${enter}`, /\n1\n/)
    await terminal.type(`db.insertOne({ _id: 'new' })${enter}`, /-- /)
    await terminal.type(`events${enter}`, /operationType: 'insert'/)
    await terminal.type(interrupt, /interrupted\n[\s\S]*db> /)
    assert.match(await terminal.type(`${failing}${enter}`, /TypeError/), /_id: 2,[\s\S]*TypeError/)
    const next = await terminal.type(`db.find({ _id: 3 })${enter}`, /-- 1 document in /)
    assert.equal(next.match(/_id: \w+/g)?.slice(-1), ['_id: 3'])
    assert.not.match(next, /operationType|_id: 2/)
    await terminal.type(`exit${enter}`, /exit/)
    await terminal.running
  }))

test('a piped cursor that fails has shown what it found, before the error', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    const { stdout } = await runCli(['shell', path('db')], `${failing}\ndb.find({ _id: 3 })`)
    assert.match(stdout, /\{ _id: 2, .*\nUncaught TypeError[\s\S]*\{ _id: 3, /)
  }))

test('a result that arrives after Ctrl-C is not shown', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'))
    await using db = await open(path('db'))
    const terminal = new Terminal(db)
    await terminal.type(`let settle; new Promise((resolve) => { settle = resolve })${enter}`, /\}\)\r?\n/)
    await terminal.type(interrupt, /no longer waiting for the result\n[\s\S]*db> /)
    const next = await terminal.type(`settle('late'); 1 + 1${enter}`, /\n2\n/)
    assert.not.match(next, /\n'late'/)
    const after = await terminal.type(`await 3${enter}`, /\n3\n[\s\S]*-- /)
    assert.not.match(after, /\n'late'/)
    await terminal.type(`exit${enter}`, /exit/)
    await terminal.running
  }))

test('names are completed from the properties of objects and from globals', () => {
  const evaluator = new Evaluator({ db: { find() {}, findOne() {}, inner: { x: 1 } } })
  assert.equal(evaluator.complete('await db.fin'), [['find', 'findOne'], 'fin'])
  assert.equal(evaluator.complete('db.inner.'), [['x'], ''])
  assert.equal(evaluator.complete('db.nothing.x'), [[], 'x'])
  assert.equal(evaluator.complete('Decimal1'), [['Decimal128'], 'Decimal1'])
})

test.run()
