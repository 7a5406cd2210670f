/** w3m, a browser without script, style and pictures, in a terminal of 100 by 40 that tmux keeps. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

export interface TextBrowser {
  /** Waits for a page that holds the text, and returns what the terminal shows. */
  shows(text: string): Promise<string>
  /** Types into the field below the label. */
  fill(label: string, text: string): Promise<void>
  /** Presses the button, or follows the link, that begins with the label. */
  press(label: string): Promise<void>
  close(): Promise<void>
}

/** The elements of a page are fewer. */
const MOST_ELEMENTS = 40

export async function openTextBrowser(url: string): Promise<TextBrowser> {
  const home = newDirectory('w3m')
  // It asks about nothing that it finds there.
  mkdirSync(join(home, '.w3m'))
  const socket = join(home, 'tmux')
  const run = async (...args: string[]): Promise<string> => {
    const tmux = Bun.spawn(['tmux', '-S', socket, '-f', '/dev/null', ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'xterm' },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    return await new Response(tmux.stdout).text()
  }
  await run('new-session', '-d', '-x', '100', '-y', '40', `w3m -cookie -o accept_cookie=1 '${url}'`)
  const screen = () => run('capture-pane', '-p')
  const keys = (...pressed: string[]) => run('send-keys', ...pressed)
  /** The column and the row of the cursor. */
  const cursor = async () => (await run('display', '-p', '#{cursor_x} #{cursor_y}')).trim()

  /** Goes from element to element to the first one for which the condition holds. */
  async function goTo(
    isThere: (lines: string[], x: number, y: number) => boolean,
    what: string,
  ): Promise<void> {
    for (let step = 0; step < MOST_ELEMENTS; step++) {
      const at = await cursor()
      const [x = 0, y = 0] = at.split(' ').map(Number)
      if (isThere((await screen()).split('\n'), x, y)) return
      await keys('Tab')
      await waitFor(async () => (await cursor()) !== at, { what: `the way to ${what} in w3m` })
    }
    throw new Error(`w3m finds no ${what} on this page:\n${await screen()}`)
  }

  return {
    async shows(text) {
      let shown = ''
      const isThere = async () => {
        shown = await screen()
        return shown.includes(text)
      }
      await waitFor(isThere, { what: text }).catch((error) => {
        throw new Error(`${error.message} in w3m, which shows:\n${shown}`)
      })
      return shown
    },
    async fill(label, text) {
      await goTo((lines, _, y) => lines[y - 1]?.startsWith(label) === true, `field ${label}`)
      await keys('Enter')
      await waitFor(async () => /^(TEXT|Password):/m.test(await screen()), {
        what: `a line to type into for ${label}`,
      })
      await keys('-l', text)
      await keys('Enter')
    },
    async press(label) {
      await goTo((lines, x, y) => lines[y]?.slice(x).startsWith(label) === true, `button ${label}`)
      await keys('Enter')
    },
    close: async () => void (await run('kill-server')),
  }
}
