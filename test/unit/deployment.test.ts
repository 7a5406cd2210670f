/** The files that people copy to run poterne: none of them opens more than is meant. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('every `docker run` of the documents publishes its port on loopback', () => {
  const files = ['README.md', ...new Glob('docs/**/*.md').scanSync({ cwd: root })]
  const published = files.flatMap((file) =>
    [...read(file).matchAll(/docker run .*?-p (\S+)/g)].map(([, address]) => `${file}: ${address}`),
  )
  expect(published.length).toBeGreaterThan(0)
  for (const one of published) expect(one).toMatch(/: 127\.0\.0\.1:\d+:\d+$/)
})

test('the systemd unit leaves no core with secrets in it, and new files to their owner alone', () => {
  const unit = read('scripts/poterne.service').split('\n')
  for (const line of ['LimitCORE=0', 'UMask=0077', 'NoNewPrivileges=yes', 'User=poterne'])
    expect(unit).toContain(line)
  // Its data would lie below /var/lib/private, where the user of the service may not pass.
  expect(unit.filter((line) => line.startsWith('DynamicUser'))).toEqual([])
})
