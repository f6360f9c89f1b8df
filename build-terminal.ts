import { build } from 'rolldown'
import config from './rolldown.config.ts'

// Instead of the command line of rolldown, which prints what it made on stdout.
await build(config as Parameters<typeof build>[0])
