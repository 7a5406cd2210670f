/** A certificate authority of the run's own and server certificates signed by it, made with openssl at test time. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './run-directory.ts'

export interface TestCertificate {
  /** PEM, all three. */
  key: string
  cert: string
  ca: string
  /** The authority's certificate as a file, for `NODE_EXTRA_CA_CERTS` of a process under test. */
  caFile: string
}

/** `trusted` is signed by `ca` for localhost and 127.0.0.1; each of the others is wrong in one way. */
export type CertificateKind = 'trusted' | 'expired' | 'wrong-host' | 'self-signed'

export function createCertificate(kind: CertificateKind = 'trusted'): TestCertificate {
  const directory = newDirectory('certificate')
  const openssl = (...parameters: string[]) =>
    execFileSync('openssl', parameters, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const names = kind === 'wrong-host' ? 'DNS:elsewhere.test' : 'DNS:localhost,IP:127.0.0.1,IP:::1'

  openssl(
    'req',
    '-x509',
    ...keyOptions,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=Test CA',
  )
  openssl('req', ...keyOptions, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=Test server')
  writeFileSync(join(directory, 'extensions'), `subjectAltName=${names}\nextendedKeyUsage=serverAuth\n`)
  const signer =
    kind === 'self-signed'
      ? ['-signkey', 'server.key']
      : ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial']
  const validity = kind === 'expired' ? '-1' : '1'
  const signing = ['-extfile', 'extensions', '-days', validity, ...signer]
  openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.crt', ...signing)

  const read = (name: string) => readFileSync(join(directory, name), 'utf8')
  return {
    key: read('server.key'),
    cert: read('server.crt'),
    ca: read('ca.crt'),
    caFile: join(directory, 'ca.crt'),
  }
}
