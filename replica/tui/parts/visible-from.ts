/** The first of `count` rows that is shown in `room` rows so that the marked one is seen, moving as little as possible from `before`. */
export function visibleFrom(
  marked: number,
  { count, room, before }: { readonly count: number; readonly room: number; readonly before: number },
): number {
  const last = Math.max(0, count - room)
  const from = marked < before ? marked : marked >= before + room ? marked - room + 1 : before
  return Math.min(last, Math.max(0, from))
}
