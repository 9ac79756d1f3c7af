/** Histories for which the store once differed from the model. */
import { test } from 'uvu'
import type { Operation } from './model-operations.ts'
import { play } from './model-player.ts'
import { levelSettings, valueSettings } from './model-settings.ts'

const document = (filler: number, mixed: string[] = []) => ({ kind: 'document', color: 0, mixed, filler }) as const
const text = { kind: 'text', text: '' } as const

test('an older value does not come back when clear() drops the table with its tombstone', async () => {
  const synced = { kind: 'write', sync: true, form: 'single' } as const
  const history: Operation[] = [
    { ...synced, batches: [[{ space: 0, key: '0000', value: document(469) }]] },
    {
      ...synced,
      batches: [
        [
          { space: 0, key: '6b657935', value: undefined },
          { space: 0, key: '6b657938', value: text }
        ]
      ]
    },
    {
      ...synced,
      batches: [
        [
          { space: 0, key: '6b657932', value: document(200) },
          { space: 0, key: '21', value: document(0) },
          { space: 2, key: '', value: document(0) },
          { space: 1, key: '', value: document(200) }
        ],
        [{ space: 0, key: '', value: document(0) }],
        [{ space: 0, key: '', value: document(0) }]
      ]
    },
    {
      ...synced,
      batches: [
        [
          { space: 0, key: '', value: text },
          { space: 1, key: '', value: document(200) }
        ]
      ]
    },
    {
      ...synced,
      batches: [
        [
          { space: 0, key: '21', value: document(0) },
          { space: 0, key: '', value: undefined }
        ]
      ]
    },
    {
      kind: 'crash',
      batches: [
        [
          { space: 0, key: '6b'.repeat(200), value: document(7, ['ü"\\']) },
          { space: 0, key: '21', value: undefined },
          { space: 0, key: '6b657931', value: document(0) }
        ]
      ],
      sync: false,
      turns: 4,
      seed: 118_518_589,
      variant: 0
    },
    {
      kind: 'clear',
      scan: { space: 0, range: { gt: '', lt: '6b657938' }, reverse: false, limit: -1, snapshot: undefined }
    }
  ]
  for (const setting of Object.values(valueSettings)) await play(setting, history)
})

test('a crash after a clear() that merges kept from dropping tables does not leave half of it', async () => {
  const synced = { kind: 'write', sync: true, form: 'single' } as const
  const lost = { kind: 'crash', sync: false, turns: 0, seed: 0 } as const
  const all = { space: 1, reverse: false, limit: -1, snapshot: undefined } as const
  const history: Operation[] = [
    { ...synced, batches: [[{ space: 1, key: 'fe', value: document(0) }], [{ space: 0, key: '', value: undefined }]] },
    { kind: 'compact', start: '', end: '' },
    {
      ...synced,
      batches: [
        [
          { space: 0, key: '', value: document(0) },
          { space: 0, key: '', value: document(0) }
        ],
        [
          { space: 0, key: '217021ff', value: document(0) },
          { space: 0, key: '', value: text }
        ]
      ]
    },
    {
      ...synced,
      batches: [
        [
          { space: 1, key: 'ffff', value: document(0) },
          { space: 0, key: '6b65793131', value: undefined }
        ]
      ]
    },
    {
      ...lost,
      batches: [[{ space: 1, key: '', value: undefined }], [{ space: 0, key: '21', value: undefined }]],
      variant: 3
    },
    { kind: 'clear', scan: { ...all, range: {}, reverse: true, limit: 1 } },
    { kind: 'openSnapshot' },
    { ...synced, batches: [[{ space: 0, key: '6b65793130', value: undefined }]] },
    { kind: 'clear', scan: { ...all, range: { gt: '' } } },
    { ...lost, batches: [[{ space: 0, key: '', value: document(0) }]], variant: 0 }
  ]
  await play(levelSettings['other options at every opening']!, history)
})

test.run()
