/** Digits and signs of decimal results. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import { gives } from './evaluate.ts'

const decimal = (text: string): Decimal128 => Decimal128.fromString(text)

test('a rounded decimal has the digits up to the place, 34 at most, and keeps its sign', async () => {
  const ones = `1.${'0'.repeat(33)}`
  await gives([
    [{ $round: [decimal('1.5'), 3] }, decimal('1.500')],
    [{ $trunc: [decimal('1.298'), 100] }, decimal(`1.298${'0'.repeat(30)}`)],
    [{ $round: [decimal('1E+3')] }, decimal('1000')],
    [{ $round: [decimal('1E+40'), -2] }, decimal(`${ones}E+40`)],
    [{ $round: [decimal('23.298'), -1] }, decimal('2E+1')],
    [{ $round: [decimal('0'), 100] }, decimal('0E-100')],
    [{ $round: [decimal('-0.5')] }, decimal('-0')],
    [{ $round: [decimal('-0.04'), 1] }, decimal('-0.0')],
    [{ $round: [decimal('-1.5')] }, decimal('-2')],
    [{ $round: [decimal(`9.${'9'.repeat(33)}`)] }, decimal('10')],
    [{ $trunc: [decimal('-0.9')] }, decimal('-0')],
    [{ $trunc: [decimal('-0')] }, decimal('-0')],
    [{ $ceil: decimal('-0.5') }, decimal('-0')],
    [{ $ceil: decimal('0.5') }, decimal('1')],
    [{ $ceil: decimal('-1.5') }, decimal('-1')],
    [{ $ceil: decimal('1E+3') }, decimal('1000')],
    [{ $ceil: decimal('1E+40') }, decimal(`${ones}E+40`)],
    [{ $ceil: decimal('1.0') }, decimal('1')],
    [{ $floor: decimal('-0.0') }, decimal('-0')],
    [{ $floor: decimal('0.5') }, decimal('0')],
    [{ $floor: decimal('-0.5') }, decimal('-1')],
    [{ $floor: decimal('-2E+1') }, decimal('-20')],
    [{ $floor: decimal('NaN') }, decimal('NaN')],
    [{ $round: [decimal('-Infinity'), 2] }, decimal('-Infinity')]
  ])
})

test('a quotient just above the middle of two decimals is the upper one', async () => {
  const [nine, ninety] = ['9'.repeat(32), '9'.repeat(31)]
  const divisor = decimal(`1.${'0'.repeat(32)}1`)
  await gives([
    // 1.499…98, then 5 and 31 zeros, and only then something else.
    [{ $divide: [decimal('1.5'), divisor] }, decimal(`1.4${nine}`)],
    [{ $divide: [decimal('-1.5'), divisor] }, decimal(`-1.4${nine}`)],
    [{ $divide: [decimal('2.5'), divisor] }, decimal(`2.4${ninety}8`)],
    [{ $avg: [decimal(`1.${'0'.repeat(32)}1`), 1n] }, decimal(`1.${'0'.repeat(33)}`)],
    [{ $divide: [decimal('6.0'), 2] }, decimal('3.0')],
    [{ $divide: [decimal('1'), 8] }, decimal('0.125')]
  ])
})

test('a zero from decimals has the sign that IEEE 754 gives it', async () => {
  await gives([
    [{ $multiply: [decimal('-0'), 1] }, decimal('-0')],
    [{ $multiply: [decimal('-1.5'), 0] }, decimal('-0.0')],
    [{ $multiply: [decimal('-0'), -1] }, decimal('0')],
    [{ $divide: [decimal('-0'), 5] }, decimal('-0')],
    [{ $divide: [0, decimal('-5')] }, decimal('-0')],
    [{ $mod: [decimal('-4'), 2] }, decimal('-0')],
    [{ $mod: [4, decimal('-2')] }, decimal('0')],
    [{ $subtract: [decimal('1'), 1] }, decimal('0')],
    [{ $add: [decimal('-0'), 0] }, decimal('0')],
    [{ $abs: decimal('-0.0') }, decimal('0.0')]
  ])
})

test.run()
