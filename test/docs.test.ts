/** Everything that the docs name exists: links, files, scripts, commands with their options, methods. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Comparison } from '../scripts/pictures/comparison-plot.ts'
import { commandNamed, commands } from '../src/cli/commands.ts'
import { Database } from '../src/docstore/database.ts'
import { FindCursor } from '../src/docstore/read/cursor.ts'
import * as library from '../src/index.ts'
import { indexFormat } from '../src/sharded-bloom/records/index-header.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const files = ['README.md', 'CHANGELOG.md', 'bench/README.md', ...docs()]
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

function docs(): string[] {
  return readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
}

/** Anchors of all headings, as on GitHub. */
function anchors(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-')
    )
  )
}

function filesIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => !path.startsWith('node_modules')).map((path) => basename(path))
}

/** Text between backticks, and the lines of code blocks. */
function code(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```.*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'))
  const spans = [...markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
  return [...blocks, ...spans]
}

test('links lead to existing files and headings', () => {
  for (const [file, text] of texts) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const linked = path === '' ? file : join(dirname(file), path)
      assert.ok(existsSync(join(root, linked)), `${file} links to ${target}`)
      if (anchor === undefined) continue
      assert.ok(anchors(readFileSync(join(root, linked), 'utf8')).has(anchor), `${file} links to ${target}`)
    }
  }
})

test('files and tests named in the docs exist', () => {
  const folders = ['', 'src', 'test', ...readdirSync(join(root, 'src')).map((name) => `src/${name}`)]
  const tops = new Set(['', 'src', 'test'].flatMap((folder) => readdirSync(join(root, folder))))
  for (const [file, text] of texts) {
    for (const span of code(text)) {
      const [path, top = '', ending] = /^([\w-]+)(?:\/[\w.-]+?)+(\.(?:ts|mjs|md|svg|json))?$/.exec(span) ?? []
      if (path === undefined || top === 'dist' || (ending === undefined && !tops.has(top))) continue
      const found = [...folders, dirname(file)].some((folder) =>
        ['', '.ts', '.test.ts'].some((end) => existsSync(join(root, folder, `${path}${end}`)))
      )
      assert.ok(found, `${file} names ${path}`)
    }
  }
})

test('files that the docs name without their folder exist', () => {
  const folders = ['src', 'test', 'bench', 'examples', 'scripts']
  const names = new Set(folders.flatMap((folder) => filesIn(join(root, folder))).concat(readdirSync(root)))
  for (const [file, text] of texts) {
    for (const span of code(text)) {
      if (/^[\w-]+(\.test)?\.(ts|mjs)$/.test(span)) assert.ok(names.has(span), `${file} names ${span}`)
    }
  }
})

test('npm scripts named in the docs exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const [file, text] of texts) {
    for (const [, script = ''] of text.matchAll(/\bnpm run (?:-s |--silent )?([\w:]+)/g)) {
      assert.ok(script in scripts, `${file} names npm run ${script}`)
    }
  }
})

test('commands named in the docs exist, with their options', () => {
  for (const [file, text] of texts) {
    for (const line of code(text)) {
      const [, name, rest = ''] = /^(?:npx )?petaldb ([a-z]+)\b(.*)$/.exec(line) ?? []
      if (name === undefined || name === 'help') continue
      const command = commandNamed(name)
      assert.ok(command !== undefined, `${file}: ${line}`)
      for (const [option] of rest.matchAll(/(?<=\s)--[a-z-]+/g)) {
        assert.ok(command.help.includes(`  ${option} `), `${file}: ${line}: ${option}`)
      }
    }
  }
})

test('README lists exactly the existing commands, and only existing methods', () => {
  const [, listed = ''] = /lists all commands: `([^`]+)`/.exec(readme) ?? []
  assert.equal(listed.split(/\s+/).sort(), commands.map(({ name }) => name).sort())
  const members = new Set<string>()
  for (const type of [Database, FindCursor]) {
    for (let own = type.prototype; own !== Object.prototype; own = Object.getPrototypeOf(own)) {
      for (const name of Object.getOwnPropertyNames(own)) members.add(name)
    }
  }
  for (const row of ['write', 'read', 'cursor']) {
    const [, names = ''] = new RegExp(`^\\| ${row} \\| \`([^\`]+)\``, 'm').exec(readme) ?? []
    assert.is.not(names, '', row)
    for (const name of names.split(' ')) assert.ok(members.has(name), `README: ${row}: ${name}`)
  }
})

test('the figures in README and docs/comparison.md are those of bench/results, with the least in bold', () => {
  const contenders: Readonly<Record<string, string>> = {
    PetalDB: 'petaldb',
    'PostgreSQL, GIN': 'postgres-gin',
    'SQLite, an index per path': 'sqlite-indexed',
    'SQLite, no index': 'sqlite',
    'NeDB, in memory': 'nedb',
    'LevelDB scan': 'level-scan'
  }
  const comparison = readFileSync(join(root, 'docs/comparison.md'), 'utf8')
  const tables = [...`${readme}${comparison}`.matchAll(/^\| query \| hits \| (PetalDB.*) \|\n.*\n((?:\|.*\n)+)/gm)]
  const results = ['million-1000000', 'queries-100000']
  assert.is(tables.length, results.length)
  for (const [i, [, head = '', body = '']] of tables.entries()) {
    const names = head.split(' | ').map((label) => contenders[label] ?? label)
    const { queries }: Comparison = JSON.parse(readFileSync(join(root, `bench/results/${results[i]}.json`), 'utf8'))
    const rows = queries.map(({ title, hits, milliseconds }) => {
      const times = names.map((name) => shown(milliseconds[name]?.median ?? Number.NaN))
      const least = Math.min(...times.map(Number))
      const cells = times.map((time) => (Number(time) === least ? `**${time}**` : time))
      return `| ${[title, hits.toLocaleString('en-US'), ...cells].join(' | ')} |\n`
    })
    assert.is(body, rows.join(''))
  }
})

function shown(milliseconds: number): string {
  return milliseconds >= 100 ? milliseconds.toFixed(0) : milliseconds.toPrecision(2)
}

test('docs/file-formats.md names the current format of indexes', () => {
  const text = texts.get('docs/file-formats.md') ?? ''
  assert.match(text, `The format number is ${indexFormat}; indexes of formats 2 to ${indexFormat - 1} are readable`)
  assert.match(text, `"format":${indexFormat},`)
})

test('everything that code in README imports is exported', () => {
  const imports = [...readme.matchAll(/import \{ ([^}]+) \} from 'petaldb'/g)]
  assert.ok(imports.length > 0)
  for (const [, names = ''] of imports) {
    for (const name of names.split(', ')) assert.ok(name in library, name)
  }
})

test.run()
