/** How many of something, in words: `1 session`, `2 sessions`. */
export function counts(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
