import { availableParallelism, cpus, totalmem } from 'node:os'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
  readonly date: string
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    date: new Date().toISOString().slice(0, 10)
  }
}

export function machineLine({ cpu, cores, memoryGiB, node, platform, date }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB; Node ${node}, ${platform}; ${date}`
}
