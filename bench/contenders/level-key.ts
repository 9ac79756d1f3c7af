/** Keys that sort like the numbers. */
export function levelKey(id: number): string {
  return String(id).padStart(16, '0')
}
