import { Box, Text } from 'ink'
import { memo } from 'react'
import { useApp } from '../app/app-context.ts'
import type { Line } from '../text/line.ts'
import { paintLine } from '../text/paint.ts'

/** Rows of a fixed width; with `rows` exactly so many: the rest is left empty. What does not fit is cut. */
export const Lines = memo(function Lines({
  lines,
  columns,
  rows,
}: {
  readonly lines: readonly Line[]
  readonly columns: number
  readonly rows?: number
}) {
  const { paint } = useApp()
  const count = rows ?? lines.length
  const painted = Array.from({ length: count }, (_, index) => paintLine(lines[index] ?? [], columns, paint))
  return (
    <Box flexDirection="column" width={columns} height={count} flexShrink={0}>
      {count === 0 ? null : <Text wrap="truncate">{painted.join('\n')}</Text>}
    </Box>
  )
})
