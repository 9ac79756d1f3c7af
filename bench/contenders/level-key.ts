/** Keys that sort as the numbers do. */
export function levelKey(id: number): string {
  return String(id).padStart(16, '0')
}
