/** Text that is equal for exactly the equal values of the types that PetalDB returns, without using code under test. */
import type { Decimal128, ObjectId, Timestamp } from 'bson'

interface DescribeOptions {
  /** For bson's own readers, which return every byte array as a Binary and, where possible, every regex as a RegExp. */
  readonly isLoose?: boolean
}

export function describe(value: unknown, options: DescribeOptions = {}): string {
  if (typeof value === 'number') return Object.is(value, -0) ? 'number -0' : `number ${value}`
  if (typeof value !== 'object') return `${typeof value} ${typeof value === 'string' ? JSON.stringify(value) : value}`
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${Array.from(value, (element) => describe(element ?? null, options)).join(', ')}]`
  if (value instanceof Date) return `date ${value.getTime()}`
  if (value instanceof RegExp) {
    return `${options.isLoose === true ? 'regex' : 'RegExp'} ${value.source} ${value.flags.replace(/[gydv]/g, '')}`
  }
  if (value instanceof Uint8Array) {
    return `${options.isLoose === true ? 'Binary 0' : 'Uint8Array'} ${Buffer.from(value).toString('hex')}`
  }
  return describeTagged(value, options)
}

function describeTagged(value: object, options: DescribeOptions): string {
  const tag = (value as { _bsontype?: unknown })._bsontype
  switch (tag) {
    case 'ObjectId':
      return `ObjectId ${(value as ObjectId).toHexString()}`
    case 'Long':
      return `bigint ${String(value)}`
    case 'Int32':
    case 'Double':
      return describe(Number((value as { value: number }).value), options)
    case 'Decimal128':
      // Some bit patterns share one text (bson drops the sign of NaN), and both sides can read only the text.
      return `Decimal128 ${(value as Decimal128).toString()}`
    case 'Binary': {
      const { sub_type, buffer, position } = value as { sub_type: number; buffer: Uint8Array; position: number }
      return `Binary ${sub_type} ${Buffer.from(buffer.subarray(0, position)).toString('hex')}`
    }
    case 'Timestamp':
      return `Timestamp ${(value as Timestamp).t} ${(value as Timestamp).i}`
    case 'BSONRegExp': {
      const { pattern, options: flags } = value as unknown as { pattern: string; options: string }
      return describeRegex(pattern, flags, options)
    }
    case 'Code': {
      const { code, scope } = value as unknown as { code: string; scope: unknown }
      return `Code ${code} ${scope == null ? '' : describe(scope, options)}`
    }
    case 'MinKey':
    case 'MaxKey':
      return tag
    default:
      return `{${Object.keys(value)
        .map((key) => `${JSON.stringify(key)}: ${describe((value as Record<string, unknown>)[key], options)}`)
        .join(', ')}}`
  }
}

function describeRegex(pattern: string, flags: string, options: DescribeOptions): string {
  if (options.isLoose === true) return `regex ${pattern} ${flags}`
  // A pattern and flags that JavaScript can represent exactly are returned as a RegExp.
  try {
    const regex = new RegExp(pattern, flags)
    if (regex.source === pattern && regex.flags === flags && /^[imsu]*$/.test(flags))
      return `RegExp ${pattern} ${flags}`
  } catch {
    // Not a JavaScript pattern: it stays a BSONRegExp.
  }
  return `BSONRegExp ${pattern} ${flags}`
}
