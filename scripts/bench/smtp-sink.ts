/** A mail server that says yes to everything and keeps nothing, as cheaply as one can. It listens until the bench ends. */

/** It takes commands that do not wait for each other (RFC 2920), as Postfix, Exim and the large providers do. */
const replies: Record<string, string> = {
  EHLO: '250-sink\r\n250 PIPELINING\r\n',
  DATA: '354 go on\r\n',
  QUIT: '221 bye\r\n',
}

interface State {
  isInData: boolean
  rest: string
}

export function startSmtpSink(): { port: number } {
  const answer = (state: State, line: string): string => {
    if (state.isInData) {
      state.isInData = line !== '.'
      return state.isInData ? '' : '250 taken\r\n'
    }
    const verb = line.slice(0, 4).toUpperCase()
    state.isInData = verb === 'DATA'
    return replies[verb] ?? '250 sink\r\n'
  }
  return Bun.listen<State>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { isInData: false, rest: '' }
        socket.write('220 sink ESMTP\r\n')
      },
      data(socket, bytes) {
        const lines = (socket.data.rest + bytes.toString('latin1')).split('\r\n')
        socket.data.rest = lines.pop() ?? ''
        const answers = lines.map((line) => answer(socket.data, line)).join('')
        if (answers !== '') socket.write(answers)
        if (answers.endsWith('221 bye\r\n')) socket.end()
      },
    },
  })
}
