/** What people receive, in English. */
import type { MessageFacts, MessageFrame, MessageTemplate } from './message-template.ts'

const minutes = ({ minutes }: MessageFacts) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)
const lifetime = (facts: MessageFacts) =>
  `This code works once, within the next ${minutes(facts)}. Do not share it with anyone.`
const ignore = 'If you did not ask for this, you can ignore this message.'
const alarm = 'If this was not you, change your password at once.'

export const frame: MessageFrame = {
  greeting: 'Hello,',
  footer: ({ service }) => `${service} — this message was sent automatically, please do not reply.`,
}

function code(subject: string, purpose: string, smsPurpose: string): MessageTemplate {
  return {
    subject: ({ service }) => `${subject} ${service}`,
    above: ({ service }) => [`Here is your code to ${purpose} ${service}:`],
    below: (facts) => [lifetime(facts), ignore],
    sms: (facts, digits) =>
      `${facts.service}: ${digits} is your ${smsPurpose} code. Valid ${facts.minutes} min. Do not share it.`,
  }
}

function notice(
  subject: (facts: MessageFacts) => string,
  paragraphs: (facts: MessageFacts) => string[],
  sms: (facts: MessageFacts) => string,
): MessageTemplate {
  return {
    subject,
    above: paragraphs,
    below: () => [],
    sms: (facts) => `${facts.service}: ${sms(facts)}`,
  }
}

export const messages = {
  confirmation: code('Confirm your account at', 'confirm your account at', 'confirmation'),
  two_factor: code('Your sign-in code for', 'sign in to', 'sign-in'),
  password_reset: code('Choose a new password for', 'choose a new password for', 'password reset'),
  email_change: code(
    'Confirm your e-mail address for',
    'confirm your new e-mail address for',
    'e-mail change',
  ),
  phone_change: code('Confirm your phone number for', 'confirm your new phone number for', 'phone change'),
  two_factor_enrolment: code(
    'Turn on two-factor sign-in for',
    'turn on two-factor sign-in for',
    'two-factor activation',
  ),
  account_exists: notice(
    ({ service }) => `You already have an account at ${service}`,
    ({ service }) => [
      `Somebody, most likely you, has just asked for an account at ${service} with this address. It already has one: sign in, or ask for a new password if you have forgotten yours.`,
      'If you did not ask for this, you can ignore this message: nothing has changed.',
    ],
    () => 'you already have an account with this number. Sign in, or ask for a new password.',
  ),
  password_changed: notice(
    ({ service }) => `Your password for ${service} has changed`,
    ({ service }) => [
      `The password of your account at ${service} has just been changed.`,
      'If this was not you, ask for a new password at once.',
    ],
    () => 'your password has changed. If this was not you, ask for a new one at once.',
  ),
  email_changed: notice(
    ({ service }) => `The e-mail address of your account at ${service} has changed`,
    ({ service }) => [`The e-mail address of your account at ${service} has just been changed.`, alarm],
    () => `the e-mail address of your account has changed. ${alarm}`,
  ),
  phone_changed: notice(
    ({ service }) => `The phone number of your account at ${service} has changed`,
    ({ service }) => [`The phone number of your account at ${service} has just been changed.`, alarm],
    () => `the phone number of your account has changed. ${alarm}`,
  ),
  contact_claimed: notice(
    ({ service }) => `Somebody tried to use your contact for another account at ${service}`,
    ({ service }) => [
      `Somebody has just asked to add this e-mail address or phone number to another account at ${service}. It belongs to yours, and stays there: nothing has changed.`,
      'If that was you, change it in this account first. If not, you can ignore this message.',
    ],
    () => 'somebody asked to add your number to another account. It stays yours: nothing has changed.',
  ),
  two_factor_enabled: notice(
    ({ service }) => `Two-factor sign-in is on for your account at ${service}`,
    ({ service }) => [`Two-factor sign-in has just been turned on for your account at ${service}.`, alarm],
    () => `two-factor sign-in is now on for your account. ${alarm}`,
  ),
  two_factor_disabled: notice(
    ({ service }) => `Two-factor sign-in is off for your account at ${service}`,
    ({ service }) => [`Two-factor sign-in has just been turned off for your account at ${service}.`, alarm],
    () => `two-factor sign-in is now off for your account. ${alarm}`,
  ),
  authenticator_changed: notice(
    ({ service }) => `A new authenticator app for your account at ${service}`,
    ({ service }) => [
      `The codes to sign in to your account at ${service} now come from another authenticator app, and there are new recovery codes. The old ones no longer work.`,
      alarm,
    ],
    () => `your account now takes its codes from another authenticator app. ${alarm}`,
  ),
  recovery_code_used: notice(
    ({ service }) => `A recovery code was used on your account at ${service}`,
    ({ service, left }) => [
      `A recovery code of your account at ${service} has just been used.${left ? ` Codes left: ${left}.` : ''}`,
      alarm,
    ],
    ({ left }) => `a recovery code of your account was used.${left ? ` Codes left: ${left}.` : ''} ${alarm}`,
  ),
  refresh_token_reused: notice(
    ({ service }) => `A device was signed out of your account at ${service}`,
    ({ service, device }) => [
      `A session of your account at ${service} was used in two places at once${device ? ` (${device})` : ''}. To be safe we have closed it: sign in again on that device.`,
      'If you do not recognise this activity, change your password.',
    ],
    () => `a session of your account was closed to be safe. ${alarm}`,
  ),
  identity_linked: notice(
    ({ service }) => `A new way to sign in to your account at ${service}`,
    ({ service, provider }) => [
      `Your account at ${service} can now be opened with ${provider ? `your ${provider} account` : 'an account elsewhere'}.`,
      'If this was not you, remove this way in and change your password at once.',
    ],
    ({ provider }) => `your account can now be opened with ${provider ?? 'an account elsewhere'}. ${alarm}`,
  ),
}
