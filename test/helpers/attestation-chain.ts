/**
 * An attestation statement with certificates of the caller's own, made with openssl. It satisfies every check of the
 * format android-key, and its certificates name addresses at which their revocation is said to be published.
 */
import { execFileSync } from 'node:child_process'
import { sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attested, Cbor } from './passkey-authenticator.ts'
import { newDirectory } from './run-directory.ts'

/** Android's key description: versions, levels, the challenge, and two empty lists of authorizations. */
const keyDescription = (challenge: Buffer) => `
[leaf]
basicConstraints = CA:FALSE
crlDistributionPoints = $ENV::CRL
1.3.6.1.4.1.11129.2.1.17 = ASN1:SEQUENCE:description
[root]
basicConstraints = critical,CA:TRUE
crlDistributionPoints = $ENV::CRL
[description]
attestationVersion = INTEGER:3
attestationSecurityLevel = ENUMERATED:1
keymasterVersion = INTEGER:4
keymasterSecurityLevel = ENUMERATED:1
challenge = FORMAT:HEX,OCTETSTRING:${challenge.toString('hex')}
uniqueId = FORMAT:HEX,OCTETSTRING:00
software = SEQUENCE:nothing
tee = SEQUENCE:nothing
[nothing]
[req]
distinguished_name = nothing
`

/** `addresses`: where the certificates say that their revocation is published. */
export function chainNaming(addresses: string[]) {
  return ({ authData, clientDataHash, privateKey }: Attested): Cbor => {
    const directory = newDirectory('attestation')
    const env = { ...process.env, CRL: addresses.map((address) => `URI:${address}`).join(',') }
    const openssl = (...parameters: string[]) =>
      execFileSync('openssl', parameters, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
    writeFileSync(join(directory, 'extensions'), keyDescription(clientDataHash))
    writeFileSync(join(directory, 'leaf.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const root = ['-keyout', 'root.key', '-out', 'root.crt', '-subj', '/CN=Root', '-days', '2']
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    openssl('req', '-x509', ...kind, ...root, '-config', 'extensions', '-extensions', 'root')
    openssl(
      'req',
      '-new',
      '-key',
      'leaf.key',
      '-out',
      'leaf.csr',
      '-subj',
      '/CN=Leaf',
      '-config',
      'extensions',
    )
    const signer = ['-CA', 'root.crt', '-CAkey', 'root.key', '-CAcreateserial', '-days', '1']
    const extensions = ['-extfile', 'extensions', '-extensions', 'leaf']
    openssl('x509', '-req', '-in', 'leaf.csr', '-out', 'leaf.crt', ...signer, ...extensions)
    const list = ['leaf.crt', 'root.crt'].map((name) => openssl('x509', '-in', name, '-outform', 'DER'))
    return [
      ['alg', -7],
      ['sig', sign('sha256', Buffer.concat([authData, clientDataHash]), privateKey)],
      ['x5c', { list }],
      ['ver', '2.0'],
    ]
  }
}
