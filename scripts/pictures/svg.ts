/** Common parts of the pictures: a frame that is readable on light and dark pages, and texts. */

const light = { paper: '#ffffff', ink: '#1f2328', faint: '#59636e', line: '#d1d9e0', petal: '#c2255c' }
const dark = { paper: '#0d1117', ink: '#e6edf3', faint: '#9198a1', line: '#3d444d', petal: '#f06595' }

const rules = ({ paper, ink, faint, line, petal }: typeof light): string =>
  `.paper{fill:${paper}}text{fill:${ink}}.faint{fill:${faint}}.line{stroke:${line};fill:none}` +
  `.petal{fill:${petal}}.cell{fill:${line}}.ring{stroke:${petal};fill:none}`

/** A complete picture with its own background, since the page that shows it may ignore the reader's colour scheme. */
export function picture(width: number, height: number, title: string, content: readonly string[]): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:12px system-ui,sans-serif}${rules(light)}@media(prefers-color-scheme:dark){${rules(dark)}}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    ...content,
    '</svg>'
  ].join('\n')}\n`
}

export interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly className?: string
}

/** A line of text, centred on `y`. */
export function text(x: number, y: number, words: string, { anchor = 'start', className }: TextStyle = {}): string {
  const look = className === undefined ? '' : ` class="${className}"`
  return `<text x="${round(x)}" y="${round(y + 4)}" text-anchor="${anchor}"${look}>${escaped(words)}</text>`
}

export function round(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escaped(words: string): string {
  return words.replace(/&/g, '&amp;').replace(/</g, '&lt;')
}
