/** `petaldb copy`: a database as a new one, in the same engine or another. */
import { randomBytes } from 'node:crypto'
import { lstat, readdir, rename, rm } from 'node:fs/promises'
import { type CopyResult, copyDatabase, type Database, open, type StoreName } from '../index.ts'
import { PetalError } from '../model/errors.ts'
import { command } from './command.ts'
import { openExisting } from './database.ts'
import { FileError, isSystemError } from './errors.ts'
import { formatCount, formatDuration } from './format.ts'
import { Interrupt } from './interrupt.ts'
import { printLine } from './line-writer.ts'
import { Progress } from './progress.ts'
import { storeName, storeNames } from './store-name.ts'

export const copyCommand = command({
  name: 'copy',
  summary: 'Copies a database into a new one, which another engine may keep, and checks that all of it arrived.',
  positionals: '<from> <to>',
  options: {
    store: { type: 'string', value: storeNames.join('|'), help: 'engine of the new database (default lsm)' },
    json: { type: 'boolean', help: 'print the outcome as JSON' }
  },
  details: [
    'The new database appears under its name when it is complete; nothing else may have that name. Ctrl-C leaves nothing',
    'of it, and the old one as it is.'
  ],
  async run([from = '', to = ''], options) {
    const store = storeName(options.store)
    using interrupt = new Interrupt()
    await assertFree(to)
    const partial = `${to.replace(/[\\/]+$/, '')}.${randomBytes(4).toString('hex')}.partial`
    const started = performance.now()
    let result: CopyResult
    try {
      await using source = await openExisting(from)
      result = await copyInto(partial, store, source, interrupt.signal)
      await rename(partial, to)
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      if (isSystemError(error)) throw new FileError('write', to, error)
      return interrupt.endedBefore(to, error)
    }
    // The copy is there: a signal that comes now is too late to make it a failure.
    const milliseconds = performance.now() - started
    await printLine(options.json === true ? resultJson(result, milliseconds) : resultText(result, to, milliseconds))
    return 0
  }
})

async function copyInto(
  location: string,
  store: StoreName,
  source: Database,
  signal: AbortSignal
): Promise<CopyResult> {
  const { collections } = await source.stats()
  const wantsFilters = store === 'lsm' && collections.some(({ index }) => index.kind === 'embedded')
  await using target = await open(location, { store, ...(wantsFilters && { lsm: { values: true } }) })
  const position = { documents: 0, totalDocuments: 0 }
  // A bar needs a whole and a part, whatever they are of.
  using _ = new Progress(() => ({
    documents: position.documents,
    bytes: position.documents,
    totalBytes: position.totalDocuments
  }))
  return await copyDatabase(source, target, {
    signal,
    onProgress: (progress) => {
      Object.assign(position, progress)
    }
  })
}

/** @throws PetalError DatabaseExists for a name that something has, but for an empty directory */
async function assertFree(location: string): Promise<void> {
  try {
    if ((await lstat(location)).isDirectory() && (await readdir(location)).length === 0) return
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw isSystemError(error) ? new FileError('write', location, error) : error
  }
  throw new PetalError('DatabaseExists', `${location} is there already; a copy is made under a new name`)
}

function resultText({ collections, documents }: CopyResult, to: string, milliseconds: number): string {
  const what = `${formatCount(documents)} document${documents === 1 ? '' : 's'}`
  const where = `${formatCount(collections)} collection${collections === 1 ? '' : 's'}`
  return `copied ${what} of ${where} to ${to} in ${formatDuration(milliseconds)}`
}

function resultJson({ collections, documents }: CopyResult, milliseconds: number): string {
  return JSON.stringify({ collections, documents, seconds: Math.round(milliseconds) / 1000 })
}
