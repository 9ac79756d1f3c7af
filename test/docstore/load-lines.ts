/** Random files of lines: usual ones that threads can build segments of, and ones with obstacles to that. */

export interface RandomFile {
  readonly bytes: Uint8Array
  /** Each line with its end; the last may have none. */
  readonly lines: readonly Uint8Array[]
  /** No line has to be imported the ordinary way. */
  readonly isUsual: boolean
}

export type Draw = <T>(list: readonly T[]) => T

type Ids = (i: number) => string | undefined

const hex = (i: number): string => i.toString(16).padStart(24, '0')
const scattered = (i: number): number => (i * 7919) % 999_983

/** JSON of the i-th `_id`, all different; undefined: the line has none. */
const idForms: Readonly<Record<string, Ids>> = {
  ascending: String,
  descending: (i) => String(1_000_000 - i),
  scattered: (i) => String(scattered(i)),
  texts: (i) => `"k${String(i).padStart(7, '0')}"`,
  scatteredTexts: (i) => `"${scattered(i).toString(36)}"`,
  oids: (i) => `{"$oid":"${hex(i)}"}`,
  scatteredOids: (i) => `{"$oid":"${hex(scattered(i))}"}`,
  longs: (i) => `{"$numberLong":"${i}"}`,
  documents: (i) => `{"a":${i},"b":"x"}`,
  none: () => undefined,
  mixed: (i) => [String(i), `"m${i}"`, undefined, `{"$oid":"${hex(i)}"}`, `${i}.5`][i % 5]
}

const bodies: readonly ((i: number) => string)[] = [
  (i) => `"n":${i % 17},"text":"tweet ${i}","lang":"${['en', 'de', 'ja'][i % 3]}","tags":["t${i % 7}","t${i % 11}"]`,
  (i) => `"n":${i % 17}, "text" : "é 日本 ${i}",\t"user":{"name":"u${i % 31}","followers":${i * 3}}`,
  (i) => `"n":${i % 17},"text":"a\\"b\\\\c\\u00e9\\ud83d\\ude00","list":[1,[2,{"x":null}],${i}]`,
  (i) =>
    `"n":${i % 17},"at":{"$date":"2024-01-02T03:04:${String(i % 60).padStart(2, '0')}Z"},"ref":{"$oid":"${hex(i % 50)}"}`,
  (i) => `"n" :${i % 17},"dates":[{"$date":{"$numberLong":"${(i - 500) * 1e9}"}},{"x":{"$date":{"$numberLong":"5"}}}]`,
  (i) =>
    `"n":${i % 17},"at":{"$date":"2024-01-02T03:04:${String(i % 60).padStart(2, '0')}.678Z"},` +
    `"big":{"$numberLong":"90071992547409${i % 100}"},"ref":{"$oid":"${hex(i % 50)}"}`
]

/** Lines that make a unit be imported the ordinary way; `i` is the line's index, `ids` returns the id of any line. */
const oddities: Readonly<Record<string, (i: number, ids: Ids, draw: Draw) => Uint8Array>> = {
  'an _id of a line shortly before': (i, ids) => line(ids(Math.max(0, i - 3)), '"again":1'),
  'an _id of a line long before': (i, ids) => line(ids(Math.floor(i / 2)), '"again":2'),
  'an _id that is stored': (_, __, draw) => line(draw(['"s1"', '"s77"', '"s150"']), '"again":3'),
  'two ids': (i) => Buffer.from(`{"_id":${i},"_id":"x${i}"}`),
  'no JSON': () => Buffer.from('{"_id":'),
  'no object': (_, __, draw) => Buffer.from(draw(['[1]', '"text"', '12', 'null'])),
  'an _id that cannot be one': (i) => Buffer.from(`{"_id":[${i}]}`),
  'what cannot be stored': (i) => Buffer.from(`{"_id":"p${i}","__proto__":1}`),
  'invalid UTF-8': (i) => Buffer.from([...Buffer.from(`{"_id":"u${i}","t":"`), 0xc3, 0x28, ...Buffer.from('"}')]),
  'a byte order mark': (i) => Buffer.from(`\ufeff{"_id":"b${i}"}`)
}

function line(id: string | undefined, body: string): Uint8Array {
  return Buffer.from(id === undefined ? `{"generated":true,${body}}` : `{"_id":${id},${body}}`)
}

export function randomFile(random: () => number, count: number): RandomFile {
  const below = (limit: number): number => Math.floor(random() * limit)
  const draw: Draw = (list) => list[below(list.length)]!
  const ids = idForms[draw(Object.keys(idForms))]!
  const isUsual = random() < 0.5
  const odd = isUsual ? [] : [draw(Object.keys(oddities)), draw(Object.keys(oddities))]
  const blankShare = draw([0, 0, 0.01])
  const ends = draw([['\n'], ['\r\n'], ['\n', '\r\n']])
  const idIsLast = draw([0, 0.1])
  const lines: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    let bytes = line(ids(i), draw(bodies)(i))
    if (random() < idIsLast) bytes = Buffer.from(`{${draw(bodies)(i)},"_id":${ids(i) ?? `"last${i}"`}}`)
    if (odd.length > 0 && random() < 0.0006) bytes = oddities[draw(odd)]!(i, ids, draw)
    if (random() < blankShare) bytes = Buffer.from(draw(['', ' ', '\t ', '\f']))
    lines.push(Buffer.concat([bytes, Buffer.from(draw(ends))]))
  }
  if (!isUsual && random() < 0.3) lines[0] = Buffer.concat([Buffer.from('\ufeff'), lines[0]!])
  const end = draw(['none', 'blank', 'whole'])
  if (end === 'none') lines.push(Buffer.from('{"_id":"the last"}'))
  if (end === 'blank') lines.push(Buffer.from('  '))
  return { lines, bytes: Buffer.concat(lines), isUsual }
}

/** The bytes, cut at random positions. */
export async function* inChunks(
  bytes: Uint8Array,
  random: () => number,
  meanBytes: number
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(random() * 2 * meanBytes)
    // A copy, so that using the bytes later is detected when they are overwritten.
    yield bytes.slice(at, end)
    at = end
  }
}
