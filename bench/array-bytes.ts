/**
 * Which arrays does an import or a rebuild leave to the garbage collector? Counts those of at least 2 KiB by the place
 * that allocates them, in a process that has done the same work before.
 *
 *     node --import tsx bench/array-bytes.ts [--count n] [--places n] [--job rebuild]
 *
 * The memory of arrays is outside V8's heap. The longer they live, the later it is freed; that of old ones is freed
 * only when V8 marks its entire heap, which it does sooner the more of them exist.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generateTweets } from '../src/workload/tweets.ts'
import { openDatabase } from './contenders/petaldb-api.ts'
import { machine } from './machine.ts'
import { header, table } from './query-report.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    places: { type: 'string', default: '12' },
    job: { type: 'string', default: 'import' }
  }
})
const count = Number(options.count)
const smallest = 2048

interface Place {
  arrays: number
  bytes: number
}

const places = new Map<string, Place>()
let isCounting = false

function note(bytes: number): void {
  if (!isCounting || bytes < smallest) return
  const name = callerOf(new Error().stack ?? '')
  const place = places.get(name) ?? { arrays: 0, bytes: 0 }
  place.arrays++
  place.bytes += bytes
  places.set(name, place)
}

/** The function of the package that allocated the array, and its file. */
function callerOf(stack: string): string {
  const frame = stack.split('\n').find((line) => /\/(src|dist)\//.test(line)) ?? stack.split('\n')[3] ?? ''
  return frame
    .trim()
    .replace(/^at /, '')
    .replace(/\(.*\/(src|dist)\//, '(')
    .replace(/:\d+\)$/, ')')
}

type Makes = new (...given: never[]) => { readonly byteLength: number }

/** Counts the arrays that `new` allocates, except for views, and the copies that slice() makes. */
function watchArrays(): void {
  for (const name of ['Uint8Array', 'Uint16Array', 'Uint32Array', 'Int32Array', 'Float64Array'] as const) {
    const original = globalThis[name] as unknown as Makes & { readonly prototype: Uint8Array }
    const { slice } = original.prototype
    original.prototype.slice = function (this: Uint8Array<ArrayBuffer>, ...range: [start?: number, end?: number]) {
      const copy = slice.apply(this, range) as Uint8Array<ArrayBuffer>
      note(copy.byteLength)
      return copy
    }
    const watched: unknown = new Proxy(original, {
      construct(target, given: unknown[], newTarget) {
        const made = Reflect.construct(target, given, newTarget === watched ? target : newTarget)
        const isView = given[0] instanceof ArrayBuffer || given[0] instanceof SharedArrayBuffer
        if (!isView) note((made as Uint8Array).byteLength)
        return made
      }
    })
    Object.assign(globalThis, { [name]: watched })
  }
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const) {
    const original = Buffer[name]
    Buffer[name] = (bytes: number) => {
      note(bytes)
      return original(bytes)
    }
  }
}

const tweets = [...generateTweets({ count, seed: 1 })]

/** Imports the tweets and rebuilds their index; counts the arrays of one of the two. */
async function work(counted: string | undefined): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-arrays-'))
  try {
    const db = await openDatabase(join(directory, 'tweets.db'))
    isCounting = counted === 'import'
    for (let i = 0; i < tweets.length; i += 1000) await db.insertMany(tweets.slice(i, i + 1000))
    isCounting = counted === 'rebuild'
    await db.index.rebuild()
    isCounting = false
    await db.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// Before the package is loaded, since it uses the globals of that time.
watchArrays()
await work(undefined)
await work(options.job)

const all = [...places].sort(([, a], [, b]) => b.bytes - a.bytes)
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
console.log(header(machine(), `node --import tsx bench/array-bytes.ts --count ${count} --job ${options.job}`))
console.log(`\n${megabytes(all.reduce((sum, [, { bytes }]) => sum + bytes, 0))} MB of arrays\n`)
console.log(
  table(
    ['made by', 'MB', 'arrays'],
    all.slice(0, Number(options.places)).map(([name, { arrays, bytes }]) => [name, megabytes(bytes), String(arrays)])
  )
)
