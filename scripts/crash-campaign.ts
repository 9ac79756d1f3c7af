/**
 * A long run of the crash tests, which the suite runs for half a minute per file, with more seeds and more rounds.
 * Prints a record; exits with status 1 at the first failed check.
 *
 *     node --import tsx scripts/crash-campaign.ts [--full] [--states 20000] [--kills 100] [--seed n]
 *
 * --full: 100,000 crash states and 1,000 kills.
 */
import { cpus, release, type } from 'node:os'
import { parseArgs } from 'node:util'
import { createRandom } from '../test/bloom/random.ts'
import { runCrashCampaigns, runNestedCampaign } from '../test/support/lsm-crash-campaign.ts'
import { change, checkDamage, createSpecimen, cut, filesOf, specimens } from '../test/support/lsm-damage.ts'
import { hurryTimers, runFaultCampaign } from '../test/support/lsm-faults.ts'
import { compileWriter, runKillRounds } from '../test/support/lsm-kill-rounds.ts'
import { optionSets } from '../test/support/lsm-traces.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    states: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) }
  }
})
const seed = Number(values.seed)
const states = Number(values.states ?? (values.full ? 100_000 : 20_000))
const kills = Number(values.kills ?? (values.full ? 1000 : 100))
/** States checked per trace, before the next seed. */
const statesPerTrace = 2500

console.log(`command: node --import tsx scripts/crash-campaign.ts ${process.argv.slice(2).join(' ')}`)
console.log(
  `date:    ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${type()} ${release()}, ${cpus().length} × ${cpus()[0]?.model.trim()}`
)
console.log(`seed ${seed}`)

// Rounds of kills mostly wait, and run concurrently with the others.
const killing = report('kills', killRounds)
await report('crash states', crashStates)
await report('crashes during recovery', nestedStates)
await report('bytes changed, files cut off', damages)
await killing
await report('failing calls', faults)

/** Prints the result of `run` and the time it took. */
async function report(what: string, run: () => Promise<string>): Promise<void> {
  const started = performance.now()
  const result = await run()
  console.log(`${what}: ${result} (${((performance.now() - started) / 1000).toFixed(0)} s)`)
}

async function crashStates(): Promise<string> {
  const sets = Object.values(optionSets)
  const totals = { traces: 0, calls: 0, states: 0 }
  for (const options of sets) {
    const record = await runCrashCampaigns(
      { options, seed, maxStates: statesPerTrace },
      Math.ceil(states / sets.length)
    )
    totals.traces += record.traces
    totals.calls += record.calls
    totals.states += record.states
  }
  return `${totals.states} states of ${totals.traces} traces of 30 operations, ${totals.calls} moments, ${sets.length} option sets`
}

async function nestedStates(): Promise<string> {
  const recoveries = Math.ceil(states / 1000)
  let total = 0
  for (const options of Object.values(optionSets)) {
    total += (await runNestedCampaign({ options, seed, maxStates: 50, randomStates: 1 }, recoveries)).states
  }
  return `${total} states of ${recoveries * Object.keys(optionSets).length} recoveries`
}

async function damages(): Promise<string> {
  let cases = 0
  let noticed = 0
  for (const options of Object.values(specimens)) {
    const specimen = await createSpecimen(options)
    for (const { name, bytes } of filesOf(specimen)) {
      for (let offset = 0; offset < bytes; offset++) {
        const damages = [...masks(offset).map((mask) => change(name, offset, mask)), cut(name, offset)]
        for (const damage of damages) {
          cases++
          if (await checkDamage(specimen, damage)) noticed++
        }
      }
    }
  }
  return `${cases} cases, ${noticed} noticed, no wrong answer`
}

function masks(offset: number): readonly number[] {
  return values.full ? [0xff, 1, 2, 4, 8, 16, 32, 64, 128] : [0xff, 1 << (offset % 8)]
}

async function killRounds(): Promise<string> {
  const program = compileWriter()
  const lanes = [seed, seed + 1].map((lane) => runKillRounds(program, Math.ceil(kills / 2), createRandom(lane)))
  const records = await Promise.all(lanes)
  const sum = (of: (record: (typeof records)[number]) => number) =>
    records.reduce((total, record) => total + of(record), 0)
  const slowest = Math.max(...records.map((record) => record.slowestOpenMilliseconds))
  return (
    `${sum((record) => record.rounds)} rounds, ${sum((record) => record.writes)} writes, 0 acknowledged lost, ` +
    `0 partial batches; ${sum((record) => record.killedOpening)} died opening; slowest next open ${slowest.toFixed(0)} ms`
  )
}

async function faults(): Promise<string> {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', (reason) => unhandled.push(reason))
  hurryTimers()
  let runs = 0
  for (const options of Object.values(optionSets)) {
    for (const isPersistent of [false, true])
      runs += await runFaultCampaign({ options, seed, length: 14, isPersistent })
  }
  if (unhandled.length > 0) throw new Error('a rejection was not handled', { cause: unhandled[0] })
  return `${runs} runs with one or all calls failing from the nth on, each rejected or durable and opened again`
}
