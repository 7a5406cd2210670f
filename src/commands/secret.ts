/** `poterne secret`: a fresh value for `server.secret`, 32 random bytes in hex. */
import { randomBytes } from 'node:crypto'
import { Command } from 'commander'

export function secretCommand(): Command {
  return new Command('secret').description('print a fresh server secret').action(() => {
    process.stdout.write(`${randomBytes(32).toString('hex')}\n`)
  })
}
