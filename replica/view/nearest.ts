/** The edit distance of two words, adjacent swaps counting as one edit. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1)
      row.push(least)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** The candidates that `word` most probably meant, best first, at most `limit`; empty when none is close. */
export function nearest(word: string, candidates: readonly string[], limit = 1): string[] {
  const wanted = word.toLowerCase().slice(0, 64)
  return candidates
    .map(candidate => ({ candidate, edits: distance(wanted, candidate.toLowerCase().slice(0, 64)) }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) * 0.4)))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}
