/** Small and read-only file systems, where the process may mount them: permissions do not stop root, a mount does. */
import { spawnSync } from 'node:child_process'
import { temporaryDirectory } from './temporary-directory.ts'

/** Whether tests may mount a tmpfs. */
export const canMount = process.platform === 'linux' && isMounted()

/** Runs a task with a tmpfs, and unmounts it even if the task fails. @param options of mount, as in `size=4m` */
export async function onTmpfs(options: string, task: (directory: string) => Promise<void>): Promise<void> {
  const directory = temporaryDirectory()
  const { status, stderr } = mount(directory, options)
  if (status !== 0) throw new Error(`mount failed: ${stderr}`)
  const unmount = (): void => void spawnSync('umount', ['-l', directory])
  // Before the temporary directories are removed.
  process.prependListener('exit', unmount)
  try {
    await task(directory)
  } finally {
    unmount()
    process.off('exit', unmount)
  }
}

function mount(directory: string, options: string) {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory], { encoding: 'utf8' })
}

function isMounted(): boolean {
  const directory = temporaryDirectory()
  const isPossible = mount(directory, 'size=64k').status === 0
  if (isPossible) spawnSync('umount', [directory])
  return isPossible
}
