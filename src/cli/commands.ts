/** All commands, in the order in which help lists them. */
import { aggregateCommand } from './aggregate.ts'
import { backupCommand } from './backup.ts'
import { benchCommand } from './bench.ts'
import type { Command } from './command.ts'
import { compactCommand } from './compact.ts'
import { copyCommand } from './copy.ts'
import { countCommand } from './count.ts'
import { exportCommand } from './export.ts'
import { findCommand } from './find.ts'
import { generateCommand } from './generate.ts'
import { getCommand } from './get.ts'
import { importCommand } from './import.ts'
import { pathsCommand } from './paths.ts'
import { reindexCommand } from './reindex.ts'
import { repairCommand } from './repair.ts'
import { shellCommand } from './shell.ts'
import { statsCommand } from './stats.ts'
import { tuneCommand } from './tune.ts'
import { verifyCommand } from './verify.ts'

export const commands: readonly Command[] = [
  importCommand,
  findCommand,
  countCommand,
  aggregateCommand,
  pathsCommand,
  shellCommand,
  getCommand,
  exportCommand,
  statsCommand,
  verifyCommand,
  repairCommand,
  copyCommand,
  backupCommand,
  compactCommand,
  tuneCommand,
  reindexCommand,
  generateCommand,
  benchCommand
]

export function commandNamed(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}
