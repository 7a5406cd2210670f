/** Preloaded: generators that build their output with TypeScript need its programming interface, which ends with 5. */
import { plugin } from 'bun'
import typescript from 'typescript-5'

plugin({
  name: 'typescript 5',
  setup(build) {
    build.module('typescript', () => ({ exports: { ...typescript, default: typescript }, loader: 'object' }))
  },
})
