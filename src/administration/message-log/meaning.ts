/** The outcome of a message, as a sentence for those who look after people. */
import type { OutboxChannel } from '../../domain/messages/outbox/message.ts'
import { fillSentence } from '../../texts/sentences.ts'
import type { MessageState } from './store.ts'

const english = {
  waiting: 'It waits to be sent.',
  again: 'The last attempt failed, and it is tried again: {cause}.',
  sent: 'The server took it.',
  sent_sms: 'The gateway took it; nothing says yet whether it arrived.',
  sent_application: 'The application was told.',
  delivered: 'The gateway reports that it arrived.',
  not_delivered: 'The gateway took it, and reported afterwards that it did not arrive.',
  refused: 'It will not be sent: {cause}.',
  unknown: 'Whether it was sent is unknown, so it is not tried again: {cause}.',
  replaced: 'A newer code took its place before it was sent.',
  expired: 'Its time ended before it could be sent.',
  expired_cause: 'Its time ended before it could be sent: {cause}.',
  smtp_auth: 'the mail server refuses the user name and password of the configuration, or wants some',
  smtp_tls: 'there is no encrypted connection to the mail server, or its certificate is not trusted',
  smtp_dns: 'the mail server was not found',
  smtp_connection: 'the mail server could not be reached',
  smtp_timeout: 'the mail server did not answer in time',
  smtp_address: 'the address cannot be written in an e-mail',
  smtp_gone: 'the mail server says that this address does not exist or takes nothing',
  smtp_later: 'the mail server does not take it now ({status})',
  smtp_never: 'the mail server refuses it ({status})',
  no_smtp: 'no mail server is configured',
  no_gateway: 'no gateway covers this number',
  no_back_channel: 'the configuration has no address for this application any more',
  sms_number: 'this is no telephone number',
  address_refused: 'a mail server refused this address within the last day, and a stranger asked',
  strangers_per_hour: 'strangers have used up what they may cause',
  send_timeout: 'sending took longer than 90 seconds',
  code_unreadable: 'what its code is made from is damaged in the database',
  gateway_credentials: '{gateway} refuses the credentials of the configuration ({status})',
  gateway_busy: '{gateway} wants fewer messages, or is too slow ({status})',
  gateway_refused: '{gateway} refuses it ({status})',
  gateway_trouble: '{gateway} has trouble of its own ({status})',
  gateway_reply: '{gateway} answered, and not that it took the message',
  gateway_token: '{gateway} gave no token for the credentials of the configuration',
  gateway_timeout: '{gateway} did not answer in time',
  gateway_broken: '{gateway} broke off without a readable answer',
  gateway_connection: '{gateway} could not be reached',
  gateway_tls: 'the certificate of {gateway} is not trusted',
  other: 'an unexpected failure ({status})',
}

const french: typeof english = {
  waiting: 'Il attend son envoi.',
  again: 'Le dernier essai a échoué, un autre suivra : {cause}.',
  sent: "Le serveur l'a pris.",
  sent_sms: "La passerelle l'a pris ; rien ne dit encore s'il est arrivé.",
  sent_application: "L'application a été prévenue.",
  delivered: 'La passerelle annonce son arrivée.',
  not_delivered: "La passerelle l'a pris, puis a annoncé qu'il n'est pas arrivé.",
  refused: 'Il ne sera pas envoyé : {cause}.',
  unknown: "Nul ne sait s'il est parti, donc il n'y a plus d'essai : {cause}.",
  replaced: "Un code plus récent l'a remplacé avant son envoi.",
  expired: 'Son délai a pris fin avant son envoi.',
  expired_cause: 'Son délai a pris fin avant son envoi : {cause}.',
  smtp_auth:
    "le serveur de courrier refuse l'identifiant et le mot de passe de la configuration, ou en demande",
  smtp_tls: "il n'y a pas de connexion chiffrée au serveur de courrier, ou son certificat n'est pas reconnu",
  smtp_dns: "le serveur de courrier n'a pas été trouvé",
  smtp_connection: "le serveur de courrier n'a pas pu être joint",
  smtp_timeout: "le serveur de courrier n'a pas répondu à temps",
  smtp_address: "l'adresse ne peut pas être écrite dans un e-mail",
  smtp_gone: "le serveur de courrier dit que cette adresse n'existe pas ou ne reçoit rien",
  smtp_later: 'le serveur de courrier ne le prend pas maintenant ({status})',
  smtp_never: 'le serveur de courrier le refuse ({status})',
  no_smtp: "aucun serveur de courrier n'est configuré",
  no_gateway: 'aucune passerelle ne couvre ce numéro',
  no_back_channel: "la configuration n'a plus d'adresse pour cette application",
  sms_number: "ce n'est pas un numéro de téléphone",
  address_refused:
    'un serveur de courrier a refusé cette adresse depuis un jour, et un inconnu a demandé ce message',
  strangers_per_hour: "les inconnus ont épuisé ce qu'ils peuvent causer",
  send_timeout: "l'envoi a duré plus de 90 secondes",
  code_unreadable: 'ce dont son code est tiré est abîmé dans la base de données',
  gateway_credentials: '{gateway} refuse les identifiants de la configuration ({status})',
  gateway_busy: '{gateway} demande moins de messages, ou est trop lente ({status})',
  gateway_refused: '{gateway} le refuse ({status})',
  gateway_trouble: '{gateway} est en panne ({status})',
  gateway_reply: "{gateway} a répondu, mais pas qu'elle a pris le message",
  gateway_token: "{gateway} n'a pas donné de jeton pour les identifiants de la configuration",
  gateway_timeout: "{gateway} n'a pas répondu à temps",
  gateway_broken: '{gateway} a rompu sans réponse lisible',
  gateway_connection: "{gateway} n'a pas pu être jointe",
  gateway_tls: "le certificat de {gateway} n'est pas reconnu",
  other: 'un échec inattendu ({status})',
}

interface Fate {
  state: MessageState
  channel: OutboxChannel
  gateway: string | null
  detail: string | null
  isReplaced: boolean
}

/** The page of administration has these two languages. */
export function meaningOf(fate: Fate, language: string): string {
  const sentences = language.startsWith('fr') ? french : english
  const causes = causesOf(fate).map(({ key, ...values }) => fillSentence(sentences[key], values))
  return fillSentence(sentences[outcomeOf(fate)], { cause: [...new Set(causes)].join('; ') })
}

/** One cause of `detail`, as a sentence without a beginning: "the mail server could not be reached". */
export function meaningOfCause(fate: Pick<Fate, 'channel' | 'detail'>, language: string): string {
  const sentences = language.startsWith('fr') ? french : english
  return causesOf(fate)
    .map(({ key, ...values }) => fillSentence(sentences[key], values))
    .join('; ')
}

type Key = keyof typeof english

function outcomeOf({ state, channel, gateway, detail, isReplaced }: Fate): Key {
  if (state === 'waiting') return detail === null ? 'waiting' : 'again'
  if (state === 'sent') return channel === 'email' ? 'sent' : `sent_${channel}`
  if (state === 'delivered') return 'delivered'
  if (state === 'refused') return gateway === null ? 'refused' : 'not_delivered'
  if (state === 'unknown') return 'unknown'
  if (isReplaced) return 'replaced'
  return detail === null ? 'expired' : 'expired_cause'
}

interface Cause {
  key: Key
  status: string
  gateway: string
}

/** `smtp_550`, `no_gateway`, or `acme:401,other:timeout`. An application has no credentials of ours to refuse. */
const causesOf = ({ detail, channel }: Pick<Fate, 'channel' | 'detail'>): Cause[] =>
  (detail ?? '').split(',').map((each) => {
    const [, gateway = '', status = ''] = /^([\w.-]+):(\w+)$/.exec(each) ?? []
    if (gateway === '') return { key: causeOfMail(each), status: each.replace('smtp_', ''), gateway }
    const isItsOwn = channel === 'application' && /^40[13]$/.test(status)
    return { key: isItsOwn ? 'gateway_refused' : causeOfGateway(status), status, gateway }
  })

function causeOfMail(detail: string): Key {
  const status = /^smtp_(\d{3})$/.exec(detail)?.[1]
  if (status === undefined) return Object.hasOwn(english, detail) ? (detail as Key) : 'other'
  if (['550', '551', '553'].includes(status)) return 'smtp_gone'
  return status < '500' ? 'smtp_later' : 'smtp_never'
}

const gatewayCauses: Record<string, Key> = {
  reply: 'gateway_reply',
  oauth: 'gateway_token',
  timeout: 'gateway_timeout',
  broken: 'gateway_broken',
  connection: 'gateway_connection',
  tls: 'gateway_tls',
  401: 'gateway_credentials',
  403: 'gateway_credentials',
  408: 'gateway_busy',
  429: 'gateway_busy',
}

const causeOfGateway = (status: string): Key =>
  gatewayCauses[status] ?? (/^5/.test(status) ? 'gateway_trouble' : 'gateway_refused')
