/** A flush in WebAssembly writes the same tables as one in JavaScript, and LZ4 restores its input. */
import { edit, mutant } from './mutant.mjs'

const kernel = 'lsm/compaction/flush-kernel/assembly'
const lz4 = 'lsm/format/lz4/assembly/index'

export const flushKernel = [
  mutant(
    'a flush sorts older versions of a key first',
    edit(`${kernel}/order`, '(order == 0 && a > b)', '(order == 0 && a < b)'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a flush ignores sequence numbers when sorting',
    edit(`${kernel}/order`, 'return order < 0 || (order == 0 && a > b)', 'return order < 0'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a series of keys continues with its last key or a prefix of it',
    edit(`${kernel}/order`, ' || shared == length) continue', ') continue'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a run without a partner to merge with is lost',
    edit(`${kernel}/order`, 'if (read < runs) setRun', 'if (read > runs) setRun'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a merged run ends with the last entry of the wrong input',
    edit(`${kernel}/order`, 'setRun(target, first, otherLast)', 'setRun(target, first, last)'),
    'lsm/flush-kernel'
  ),
  mutant(
    'eight bytes of keys are compared in reverse order',
    edit(`${kernel}/entries`, 'bswap<u64>(left) < bswap<u64>(right)', 'left < right'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a comparison of keys includes a byte after them',
    edit(`${kernel}/entries`, 'const rest = (8 - <u64>', 'const rest = (7 - <u64>'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a key that starts with the previous one is taken for a version of it',
    edit(`${kernel}/index`, '!hasLast || shared < length || shared < lastLength', '!hasLast || shared < lastLength'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a flush drops the version that was the newest one when a snapshot was taken',
    edit(`${kernel}/index`, '(<usize>(era - 1) << 3)) >= sequence', '(<usize>(era - 1) << 3)) > sequence'),
    'lsm/flush-kernel'
  ),
  mutant(
    'the keys after which tables must end are ignored',
    edit(`${kernel}/index`, 'hasBorderKey && compareKeys', '!hasBorderKey && compareKeys'),
    'lsm/flush-kernel'
  ),
  mutant(
    'each version of a key is added to the key filter',
    edit(`${kernel}/index`, 'if (isNewKey) addHash(key, length)', 'addHash(key, length)'),
    'lsm/flush-kernel'
  ),
  mutant(
    'the second half of a hash is shifted with its sign',
    edit(`${kernel}/key-filter`, 'store<u32>(hash, b >> 11, 4)', 'store<u32>(hash, <u32>(<i32>b >> 11), 4)'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a restart point comes one entry late',
    edit(`${kernel}/blocks`, 'sinceRestart == restartInterval', 'sinceRestart > restartInterval'),
    'lsm/flush-kernel'
  ),
  mutant(
    'the last block of a table is left out',
    edit(`${kernel}/blocks`, 'if (restarts > 0) endBlock()\n  if', 'if'),
    'lsm/flush-kernel'
  ),
  mutant(
    'a separator may equal the next key',
    edit(`${kernel}/blocks`, 'shared) + 1 >= <u32>load', 'shared) + 1 > <u32>load'),
    'lsm/flush-kernel'
  ),
  mutant(
    'the checksum of a block uses its offset in the output instead of that in the file',
    edit(`${kernel}/blocks`, '  writtenBytes += <u64>(end - outputAt)\n', ''),
    'lsm/flush-kernel'
  ),
  mutant(
    'matches are looked up in the hash table of the previous page',
    edit(lz4, '      memory.fill(TABLE, 0, 2 << HASH_BITS)\n', ''),
    'lsm/table-lz4'
  ),
  mutant(
    'a match extends into the last five bytes',
    edit(lz4, 'const LAST_LITERALS: u32 = 5', 'const LAST_LITERALS: u32 = 4'),
    'lsm/table-lz4'
  ),
  mutant(
    'a match of nineteen bytes lacks the byte for the rest of its length',
    edit(lz4, '<usize>(length >= 15)', '<usize>(length > 15)'),
    'lsm/table-lz4'
  ),
  mutant(
    'a match is extended to before the beginning of the input',
    edit(lz4, 'min<u32>(<u32>(at - anchor), <u32>(match - INPUT))', '<u32>(at - anchor)'),
    'lsm/table-lz4',
    'lsm/table-lz4-memory'
  ),
  mutant(
    'a match may begin before the output',
    edit(lz4, 'distance > <u32>(out - OUTPUT)', 'distance > <u32>(out - OUTPUT) + 1'),
    'lsm/table-lz4',
    'lsm/table-lz4-memory'
  ),
  mutant(
    'literals may exceed the output',
    edit(lz4, ' || literals > <u32>(outEnd - out)) return 0', ') return 0'),
    'lsm/table-lz4',
    'lsm/table-lz4-memory'
  ),
  mutant(
    'a short period is copied before it has been written',
    edit(lz4, '(7 + distance) / distance', '8 / distance'),
    'lsm/table-lz4'
  ),
  mutant(
    'a block whose compressed size needs more or fewer bytes than the last one stays where it is',
    edit(`${kernel}/blocks`, '    memory.copy(to, expectedAt, <usize>bytes)\n', ''),
    'lsm/flush-kernel'
  )
]
