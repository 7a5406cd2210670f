/** The size of the executable, against a bare Elysia executable. */
import { statSync } from 'node:fs'
import type { Bench } from '../bench.ts'
import { compileRival } from '../executables.ts'
import { type Row, round } from '../row.ts'

const LIMIT_MB = 25

export const sizeRow: Row = {
  name: 'size',
  async measure(bench: Bench) {
    const megabytes = (file: string) => statSync(file).size / 1e6
    const ours = megabytes(await bench.executable())
    const theirs = megabytes(await compileRival('bare-elysia'))
    return [
      {
        row: 'size',
        what: 'executable',
        rival: 'bare Elysia',
        ours: `${round(ours)} MB`,
        theirs: `${round(theirs)} MB`,
        ratio: null,
        goal: `≤ + ${LIMIT_MB} MB`,
        met: ours - theirs <= LIMIT_MB,
        notes: [`+ ${round(ours - theirs)} MB`],
      },
    ]
  },
}
