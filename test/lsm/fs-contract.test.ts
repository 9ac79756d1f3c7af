/** Runs the same tests on every file system. */
import { suite } from 'uvu'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { testFileSystem } from './file-system-cases.ts'

function memory(): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory('/db')
  return fileSystem
}

const contexts = {
  node: () => ({ fileSystem: nodeFileSystem, directory: temporaryDirectory() }),
  memory: () => ({ fileSystem: memory(), directory: '/db' }),
  'memory, a snapshot': () => ({ fileSystem: memory().snapshot(), directory: '/db' }),
  'faulty without faults over node': () => ({
    fileSystem: new FaultyFileSystem(nodeFileSystem),
    directory: temporaryDirectory()
  }),
  'faulty without faults over memory': () => ({ fileSystem: new FaultyFileSystem(memory()), directory: '/db' })
}

for (const [name, make] of Object.entries(contexts)) {
  const test = suite(name)
  testFileSystem(test, make)
  test.run()
}
