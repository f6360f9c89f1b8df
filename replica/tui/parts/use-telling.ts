import { useCallback, useEffect, useState } from 'react'
import type { Tone } from '../text/line.ts'

/** A sentence on the status line. */
export interface Told {
  readonly text: string
  readonly tone: Tone
}

/** Long enough to be read. Unit: ms. */
const SHOWN_MS = 5_000

/** What the status line says for some seconds, the newest only. */
export function useTelling(): { readonly told: Told | null; readonly tell: (text: string, tone?: Tone) => void } {
  const [told, setTold] = useState<Told | null>(null)
  useEffect(() => {
    if (told === null) return
    const timer = setTimeout(() => setTold(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [told])
  const tell = useCallback((text: string, tone: Tone = 'normal') => setTold({ text, tone }), [])
  return { told, tell }
}
