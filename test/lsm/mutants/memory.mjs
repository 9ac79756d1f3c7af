/** Memory that is used again is nobody's any more. */
import { edit, mutant } from './mutant.mjs'

export const memory = [
  mutant(
    'stores that keep values are given memory of rooms',
    edit('docstore/write/write-batch', 'this.copies ? value : value.slice()', 'value'),
    'docstore/reopen'
  ),
  mutant(
    'a room is closed when the first of its records is made',
    edit(
      'sharded-bloom/records/checked-store',
      'writes.push(checked(operation, room))',
      'writes.push(checked(operation, room))\n      room.close()'
    ),
    'sharded-bloom/room'
  ),
  mutant(
    'a seal closes the room of the last of its tail before it is written',
    edit(
      'sharded-bloom/segment/seal',
      'if (writes.length > 0) await store.write(writes)\n      room.close()',
      'const written = store.write(writes)\n      room.close()\n      await written'
    ),
    'sharded-bloom/room'
  ),
  mutant(
    'a seal closes the room of a part of its tail before it is written',
    edit(
      'sharded-bloom/segment/seal',
      'await store.write(writes)\n    writes = []\n    room.close()',
      'const written = store.write(writes)\n    room.close()\n    await written\n    writes = []'
    ),
    'sharded-bloom/room'
  ),
  mutant(
    'a checkpoint closes its room before it is written',
    edit(
      'sharded-bloom/segment/segment-store',
      'await this.write(writes, [handle])\n    room.close()',
      'const written = this.write(writes, [handle])\n    room.close()\n    await written'
    ),
    'sharded-bloom/room'
  ),
  mutant(
    'a room that is closed twice is given to two',
    edit('sharded-bloom/records/room', 'this.#memory = noMemory\n    this.#used = 0', ''),
    'sharded-bloom/room'
  ),
  mutant(
    'two samplers have the members of one that was closed',
    edit('sharded-bloom/tune/sampler', '    idleMembers = undefined\n    this.#stride', '    this.#stride'),
    'sharded-bloom/sampler'
  ),
  mutant(
    'the hash table of a released memtable keeps its keys',
    edit('lsm/memtable/key-table', 'idleSlots.pop()?.fill(0)', 'idleSlots.pop()'),
    'lsm/memtable-cursor'
  ),
  mutant(
    'a young segment takes a chunk of rows with its first document',
    edit('sharded-bloom/segment/hashed-rows', 'const maxYoungDocuments = 1024', 'const maxYoungDocuments = 0'),
    'sharded-bloom/hashed-rows',
    'docstore/many-collections'
  ),
  mutant(
    'frames that were taken are lost where there are too few',
    edit(
      'bloom/kernels/row-memory',
      '    if (!this.#hasFree(count)) throw this.#exhausted()\n    return',
      '    return'
    ),
    'sharded-bloom/hashed-rows',
    'bloom/row-memory'
  ),
  mutant(
    'nobody is asked for frames where none is free',
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
    'segments are not sealed before they are full, however short memory is',
    edit('sharded-bloom/segment/early-seals', 'if (!this.#isShort || ', 'if (this.#isShort || '),
    'sharded-bloom/early-seals',
    'docstore/short-row-memory'
  ),
  mutant(
    'the segment that was written to last is sealed first',
    edit(
      'sharded-bloom/segment/early-seals',
      '    this.#sealers.delete(sealer)\n    this.#sealers.add(sealer)',
      '    this.#sealers.add(sealer)'
    ),
    'sharded-bloom/early-seals'
  ),
  mutant(
    'a seal is waited for without end',
    edit(
      'sharded-bloom/segment/early-seals',
      'setTimeout(resolve, milliseconds)',
      'setTimeout(() => {}, milliseconds)'
    ),
    'sharded-bloom/early-seals'
  ),
  mutant(
    'opened segments are restored without asking for room',
    edit('sharded-bloom/segment/stored-segment', '    await EarlySeals.of(memory).makeRoom()\n', ''),
    'docstore/short-row-memory'
  ),
  mutant(
    'for want of a descriptor a read fails while idle tables hold theirs',
    edit('lsm/version/table-cache', '!lacksDescriptors(error) || !this.#relieve()', 'lacksDescriptors(error) || true'),
    'lsm/version-table-cache'
  )
]
