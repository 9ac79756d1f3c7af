/**
 * Calls into a child process, so that every measured store has its own memory and compiled code.
 * The child runs with the parent's flags.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { compiled, flagsForCompiled } from './compiled.ts'

type Handlers = Readonly<Record<string, (argument: never) => Promise<unknown>>>

type Remote<H extends Handlers> = {
  readonly call: <K extends keyof H & string>(
    name: K,
    argument: Parameters<H[K]>[0]
  ) => Promise<Awaited<ReturnType<H[K]>>>
  /** Ends the process. */
  readonly end: () => Promise<void>
}

type Reply = { readonly value: unknown } | { readonly error: string }

/** The parent's side. REQUIRES: one call at a time. */
export function connect<H extends Handlers>(module: URL): Remote<H> {
  const child = fork(compiled(module), {
    serialization: 'advanced',
    execArgv: [...flagsForCompiled(), '--expose-gc', '--max-old-space-size=8192']
  })
  return {
    async call(name, argument) {
      const reply = nextReply(child)
      child.send({ name, argument })
      const answer = await reply
      if ('error' in answer) throw new Error(answer.error)
      // The child's module has the type H: the answer is the value that its handler returns.
      return answer.value as never
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    }
  }
}

function nextReply(child: ChildProcess): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: unknown): void => {
      child.off('exit', onExit)
      resolve(reply as Reply)
    }
    const onExit = (code: number | null, signal: string | null): void => {
      child.off('message', onMessage)
      reject(new Error(`the process ended (${signal ?? code})`))
    }
    child.once('message', onMessage)
    child.once('exit', onExit)
  })
}

/** The child's side. */
export function serve(handlers: Handlers): void {
  // The child must not outlive the parent.
  process.once('disconnect', () => process.exit())
  process.on('message', ({ name, argument }: { name: string; argument: never }) => {
    const handler = handlers[name]
    const answer = handler === undefined ? Promise.reject(new TypeError(`no handler ${name}`)) : handler(argument)
    answer.then(
      (value) => process.send?.({ value }),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    )
  })
}
