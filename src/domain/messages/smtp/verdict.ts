/** The meaning for a message of a mail server's answer, or of a failed connection to it. */
import type { Redact } from '../../../platform/redact.ts'
import { cleanWords } from '../senders/clean-words.ts'
import type { RenderedMessage, SendOutcome } from '../senders/sender.ts'

/** The address is not exactly one plain address, so nothing was sent. */
export class AddressRefused extends Error {
  readonly code = 'EENVELOPE'
}

/** The error codes of nodemailer (https://nodemailer.com/errors). */
interface SmtpFailure {
  code?: string
  originalCode?: string
  command?: string
  responseCode?: number
  response?: string
}

type Personal = Pick<RenderedMessage, 'to' | 'code'>

/** `message`: what the words of the server must not repeat, beside the secrets that `redact` knows. */
export const outcomeOfConversation = (error: unknown, message: Personal, redact: Redact): SendOutcome =>
  withReason(outcomeOf(error), error, (words) => cleanWords(words, message, redact))

/** The reason is in the server's own words, or the name of what is wrong with its certificate. */
function withReason(outcome: SendOutcome, error: unknown, clean: (words: string) => string): SendOutcome {
  const { response, code, originalCode, message: words } = (error ?? {}) as SmtpFailure & { message?: string }
  if (response) return { ...outcome, reason: clean(response) }
  if (outcome.detail === 'smtp_tls')
    return { ...outcome, reason: clean(tlsReason(originalCode ?? code, words)) }
  return originalCode ? { ...outcome, reason: originalCode } : outcome
}

/** `CERT_HAS_EXPIRED`, `ERR_TLS_CERT_ALTNAME_INVALID`, …; else what nodemailer says of the conversation. */
function tlsReason(code: string | undefined, words: string | undefined): string {
  return code && code !== 'ETLS' && code !== 'ESOCKET' ? code : (words ?? 'ETLS')
}

/** The server gave no reply. */
export const isSilence = (error: unknown): boolean =>
  (error as SmtpFailure | null)?.responseCode === undefined && !(error instanceof AddressRefused)

/** Only a reply to this message (MAIL, RCPT, DATA) is a verdict on it; 503 means that the session went wrong. */
function outcomeOf(error: unknown): SendOutcome {
  const { code = '', originalCode = '', command = '', responseCode } = (error ?? {}) as SmtpFailure
  if (error instanceof AddressRefused) return { outcome: 'refused', detail: 'smtp_address' }
  const failed = (detail: string): SendOutcome => ({ outcome: 'failed', detail })
  if (code === 'EAUTH' || code === 'ENOAUTH' || [530, 534, 535, 538].includes(responseCode ?? 0)) {
    return failed('smtp_auth')
  }
  if (code === 'ETLS' || /CERT|TLS|SSL|SELF_SIGNED|ISSUER|VERIFY/.test(originalCode))
    return failed('smtp_tls')
  if (responseCode !== undefined) {
    const verdict = responseCode >= 500 && responseCode !== 503 && /^(MAIL FROM|RCPT TO|DATA)/.test(command)
    const isAddressRefused =
      verdict && command.startsWith('RCPT TO') && [550, 551, 553].includes(responseCode)
    return {
      outcome: verdict ? 'refused' : 'failed',
      detail: `smtp_${responseCode}`,
      ...(isAddressRefused ? { isAddressRefused } : {}),
    }
  }
  if (code === 'ETIMEDOUT' || code === 'EABORT') return failed('smtp_timeout')
  if (/^(ECONN|ESOCKET|EHOST|ENET|EPIPE)/.test(code)) return failed('smtp_connection')
  if (code === 'EDNS' || /^(ENOTFOUND|EAI_|DNS)/.test(code)) return failed('smtp_dns')
  return failed('smtp_error')
}
