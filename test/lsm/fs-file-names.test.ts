/** The store's file names are recognised, and no others. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  lockBreakName,
  lockRecordName,
  logName,
  manifestName,
  parseFileName,
  sideFileName,
  tableName,
  temporaryName
} from '../../src/lsm/fs/file-names.ts'

const nonce = '0123456789abcdef'.repeat(2)

test('parseFileName() parses every name that the store makes', () => {
  for (const number of [0, 1, 12, 999_999, 1_000_000, 123_456_789, Number.MAX_SAFE_INTEGER]) {
    assert.equal(parseFileName(tableName(number)), { kind: 'table', number })
    assert.equal(parseFileName(logName(number)), { kind: 'log', number })
    assert.equal(parseFileName(manifestName(number)), { kind: 'manifest', number })
    assert.equal(parseFileName(sideFileName(number)), { kind: 'side', number })
    assert.equal(parseFileName(temporaryName(number)), { kind: 'temporary', number })
  }
  assert.equal(parseFileName('CURRENT'), { kind: 'current', number: 0 })
  assert.equal(parseFileName('LOCK'), { kind: 'lock', number: 0 })
  assert.equal(parseFileName(lockRecordName(nonce)), { kind: 'temporary', number: 0 })
  assert.equal(parseFileName(lockBreakName(nonce)), { kind: 'temporary', number: 0 })
})

test('names have at least six digits', () => {
  assert.is(tableName(14), '000014.sst')
  assert.is(logName(13), '000013.wal')
  assert.is(sideFileName(14), '000014.vf')
  assert.is(manifestName(12), 'MANIFEST-000012')
  assert.is(temporaryName(1_234_567), '1234567.tmp')
})

test('parseFileName() returns undefined for other names', () => {
  const others = [
    '',
    '.',
    'PETALDB',
    'current',
    'CURRENT.tmp',
    'CURRENT.bak',
    'LOCK2',
    'LOCK-abc.tmp',
    `LOCK-${nonce}`,
    `LOCK-${nonce.toUpperCase()}.tmp`,
    'LOG',
    'LOG.old',
    '14.sst',
    '000014',
    '000014.',
    '000014.ldb',
    '000014.log',
    '000014.SST',
    '000014.sst.bak',
    ' 000014.sst',
    '000014.sst\n',
    '0000014.sst',
    '-00014.sst',
    '00001a.sst',
    '٠٠٠٠١٤.sst',
    'MANIFEST-12',
    'MANIFEST-0000012',
    'MANIFEST-000012.sst',
    'MANIFEST-000012.tmp',
    '9007199254740993.sst',
    '99999999999999999999.sst',
    'constructor',
    '000014.constructor'
  ]
  for (const name of others) assert.is(parseFileName(name), undefined, JSON.stringify(name))
})

test.run()
