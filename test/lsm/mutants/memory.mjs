/** Reused memory has no other user. */
import { edit, mutant } from './mutant.mjs'

export const memory = [
  mutant(
    'stores that keep values get memory of rooms instead of copies',
    edit('docstore/write/write-batch', 'this.copies ? value : value.slice()', 'value'),
    'docstore/reopen'
  ),
  mutant(
    'a room is closed after the first of its records',
    edit(
      'sharded-bloom/records/checked-store',
      'writes.push(checked(operation, arena))',
      'writes.push(checked(operation, arena))\n      arena.close()'
    ),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'a seal closes the room of the end of its tail before that is written',
    edit(
      'sharded-bloom/segment/seal',
      'if (writes.length > 0) await store.write(writes)\n      arena.close()',
      'const written = store.write(writes)\n      arena.close()\n      await written'
    ),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'a seal closes the room of a part of its tail before that is written',
    edit(
      'sharded-bloom/segment/seal',
      'await store.write(writes)\n    writes = []\n    arena.close()',
      'const written = store.write(writes)\n    arena.close()\n    await written\n    writes = []'
    ),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'a checkpoint closes its room before its records are written',
    edit(
      'sharded-bloom/segment/segment-store',
      'await this.write(writes, [handle])\n    arena.close()',
      'const written = this.write(writes, [handle])\n    arena.close()\n    await written'
    ),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'the memory of a room that is closed twice is given to two users',
    edit('sharded-bloom/records/scratch-arena', '    this.#pages = []\n    this.#page =', '    this.#page ='),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'the chunks of private rows are in memory that others get',
    edit('sharded-bloom/segment/private-rows', 'isComplete ? this.#arena : undefined', 'arena'),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'a seal closes the room of a column before that is written',
    edit(
      'sharded-bloom/segment/seal',
      'await store.write(writes)\n    scratch.close()',
      'const written = store.write(writes)\n    scratch.close()\n    await written'
    ),
    'sharded-bloom/scratch-arena'
  ),
  mutant(
    'the buffers of a cursor are given to two others',
    edit('lsm/read/pinning-cursor', 'space?.release()\n    space = undefined', 'space?.release()'),
    'lsm/byte-scan'
  ),
  mutant(
    'the members of a sampler are replaced by those of a smaller one',
    edit('sharded-bloom/tune/sampler', 'length > idleMembers.length && ', ''),
    'sharded-bloom/sampler'
  ),
  mutant(
    'two samplers share the members of a closed one',
    edit('sharded-bloom/tune/sampler', 'if (isIdleLarger) idleMembers = noMembers', ''),
    'sharded-bloom/sampler'
  ),
  mutant(
    'the hash table of a released memtable keeps its keys',
    edit('lsm/memtable/key-table', 'kept?.fill(0)', 'kept'),
    'lsm/memtable-cursor'
  ),
  mutant(
    'a young segment allocates a chunk of rows for its first document',
    edit('sharded-bloom/segment/hashed-rows', 'const maxYoungDocuments = 1024', 'const maxYoungDocuments = 0'),
    'sharded-bloom/hashed-rows',
    'docstore/many-collections'
  ),
  mutant(
    'frames already taken are lost if there are too few',
    edit(
      'bloom/kernels/row-memory',
      '    if (!this.#hasFree(count)) throw this.#exhausted()\n    return',
      '    return'
    ),
    'sharded-bloom/hashed-rows',
    'bloom/row-memory'
  ),
  mutant(
    'no holder of frames is asked when none is free',
    edit(
      'bloom/kernels/row-memory',
      'for (const holder of this.#holders) {\n      let before',
      'for (const holder of []) {\n      let before'
    ),
    'sharded-bloom/row-cache',
    'docstore/short-row-memory'
  ),
  mutant(
    'frames in use are given to others',
    edit(
      'sharded-bloom/segment/row-cache',
      'entry.address === 0 || entry.evaluation === this.#evaluation',
      'entry.address === 0'
    ),
    'sharded-bloom/row-cache'
  ),
  mutant(
    'segments are not sealed early, however short memory is',
    edit('sharded-bloom/segment/early-seals', 'if (!this.#isMemoryShort || ', 'if (this.#isMemoryShort || '),
    'sharded-bloom/early-seals',
    'docstore/short-row-memory'
  ),
  mutant(
    'the order of early seals ignores recent writes',
    edit(
      'sharded-bloom/segment/early-seals',
      '    this.#sealers.delete(sealer)\n    this.#sealers.add(sealer)',
      '    this.#sealers.add(sealer)'
    ),
    'sharded-bloom/early-seals'
  ),
  mutant(
    'the wait for a seal has no time limit',
    edit(
      'sharded-bloom/segment/early-seals',
      'setTimeout(resolve, milliseconds)',
      'setTimeout(() => {}, milliseconds)'
    ),
    'sharded-bloom/early-seals'
  ),
  mutant(
    'segments are restored without making room for them',
    edit('sharded-bloom/segment/stored-segment', '    await EarlySeals.of(memory).makeRoom()\n', ''),
    'docstore/short-row-memory'
  ),
  mutant(
    'a read fails for lack of descriptors while idle tables are open',
    edit('lsm/version/table-cache', '(() => this.#giveBack())', '(() => false)'),
    'lsm/version-table-cache'
  )
]
