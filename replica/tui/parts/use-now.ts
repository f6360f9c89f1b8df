import { useEffect, useState } from 'react'

/** How often what shows a duration is drawn anew. Unit: ms. */
const TICK_MS = 1_000

/** ms of the local clock; it moves on while `isTicking`, and stands still, costing nothing, otherwise. */
export function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    setNow(Date.now())
    if (!isTicking) return
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
