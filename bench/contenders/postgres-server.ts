/** Runs a PostgreSQL server for the benchmark, with its own data directory, on a free port of the loopback. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const binaries = '/usr/lib/postgresql/15/bin'
const account = 'postgres'

export interface PostgresServer {
  readonly port: number
  readonly data: string
  stop(): Promise<void>
}

/** @throws Error if PostgreSQL 15 is not installed */
export async function startPostgres(directory: string): Promise<PostgresServer> {
  if (!existsSync(join(binaries, 'postgres'))) throw new Error('PostgreSQL 15 is not installed')
  const data = join(directory, 'data')
  mkdirSync(data, { recursive: true })
  // The server refuses to run as root.
  const isRoot = process.getuid?.() === 0
  const ids = isRoot ? accountIds() : undefined
  if (ids !== undefined) for (const path of [directory, data]) chownSync(path, ids.uid, ids.gid)
  if (!existsSync(join(data, 'PG_VERSION'))) {
    execFileSync(join(binaries, 'initdb'), ['-D', data, '-U', account, '-A', 'trust', '--no-sync'], {
      ...ids,
      cwd: directory,
      stdio: 'ignore'
    })
  }
  const port = await freePort()
  const settings = [
    'shared_buffers=1GB',
    'work_mem=64MB',
    'maintenance_work_mem=512MB',
    'max_wal_size=4GB',
    // As with the embedded stores of the comparison, a crash of the machine may lose the last writes.
    'synchronous_commit=off',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'jit=off'
  ]
  const server = spawn(join(binaries, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...ids,
    cwd: directory,
    stdio: 'ignore'
  })
  for (let attempt = 0; ; attempt++) {
    if (spawnSync(join(binaries, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0) break
    if (attempt > 300 || server.exitCode !== null) throw new Error('PostgreSQL does not start')
    await wait(100)
  }
  const kill = (): void => {
    server.kill('SIGQUIT')
  }
  process.once('exit', kill)
  return {
    port,
    data,
    async stop() {
      process.off('exit', kill)
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
    }
  }
}

function accountIds(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${account}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${account}`)
  return { uid: Number(uid), gid: Number(gid) }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
