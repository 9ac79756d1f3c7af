import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type FilesInUse, obsoleteFiles } from '../../src/lsm/version/obsolete-files.ts'

const listing = [
  'CURRENT',
  'LOCK',
  'LOCK-0123456789abcdef0123456789abcdef.tmp',
  'MANIFEST-000003',
  'MANIFEST-000010',
  'MANIFEST-000020',
  '000004.wal',
  '000006.wal',
  '000011.wal',
  '000012.wal',
  '000005.sst',
  '000005.vf',
  '000007.sst',
  '000007.vf',
  '000008.sst',
  '000009.tmp',
  '000020.tmp',
  'PETALDB',
  'notes.txt',
  '7.sst'
]

function obsolete(inUse: Partial<FilesInUse> = {}) {
  const { names, spareLog } = obsoleteFiles(listing, {
    liveTables: new Set([5]),
    logNumber: 11,
    manifestNumber: 10,
    ...inUse
  })
  return { names: [...names].sort(), spareLog }
}

const inOrder = [
  '000004.wal',
  '000007.sst',
  '000007.vf',
  '000008.sst',
  '000009.tmp',
  '000020.tmp',
  'MANIFEST-000003',
  'MANIFEST-000020'
]

test('files that no version, log number or manifest refers to are obsolete, but one old log is spared', () => {
  assert.equal(obsolete(), { names: inOrder, spareLog: 6 })
})

test('a log that recovery needs is never obsolete', () => {
  assert.equal(obsolete({ logNumber: 5 }).spareLog, 4)
  assert.equal(obsolete({ logNumber: 4 }).spareLog, undefined)
  assert.ok(!obsolete({ logNumber: 0 }).names.some((name) => name.endsWith('.wal')))
})

test('the newest old log is spared, whatever the order of the listing', () => {
  for (const names of [listing, [...listing].reverse()]) {
    const inUse = { liveTables: new Set<number>(), logNumber: 99, manifestNumber: 99 }
    const { spareLog, names: removed } = obsoleteFiles(names, inUse)
    assert.is(spareLog, 12)
    assert.not.ok(removed.includes('000012.wal'))
    assert.ok(removed.includes('000011.wal'))
  }
})

test.run()
