/** A mail server that says yes to everything and keeps nothing, as cheaply as one can. */

export interface SmtpSink {
  port: number
  /** Messages taken so far. */
  received(): number
  stop(): void
}

interface State {
  inData: boolean
  rest: string
}

export async function startSmtpSink(): Promise<SmtpSink> {
  let received = 0
  const answer = (state: State, line: string): string => {
    if (state.inData) {
      if (line !== '.') return ''
      state.inData = false
      received++
      return '250 taken\r\n'
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'DATA') state.inData = true
    return verb === 'DATA' ? '354 go on\r\n' : verb === 'QUIT' ? '221 bye\r\n' : '250 sink\r\n'
  }
  const server = Bun.listen<State>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { inData: false, rest: '' }
        socket.write('220 sink ESMTP\r\n')
      },
      data(socket, bytes) {
        const state = socket.data
        const lines = (state.rest + bytes.toString('latin1')).split('\r\n')
        state.rest = lines.pop() ?? ''
        const answers = lines.map((line) => answer(state, line)).join('')
        if (answers !== '') socket.write(answers)
        if (answers.endsWith('221 bye\r\n')) socket.end()
      },
    },
  })
  return { port: server.port, received: () => received, stop: () => server.stop(true) }
}
