/** English: the same rows as fr.ts; a missing one is a type error. */

import type { Texts } from './languages.ts'
import type { MessageFacts } from './messages.ts'

const minutes = ({ minutes }: MessageFacts) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)
const lifetime = (facts: MessageFacts) =>
  `This code works once, within the next ${minutes(facts)}. Do not share it with anyone.`
const nameOf = (removed: string) =>
  removed
    .replace(/^email$/, 'the e-mail address')
    .replace(/^phone$/, 'the phone number')
    .replace(/^passkey$/, 'a passkey')
    .replace(/^identity /, 'signing in through ')
const ignore = 'If you did not ask for this, you can ignore this message.'
const alarm = 'If this was not you, change your password at once.'

export const en: Texts = {
  errors: {
    malformed_json: 'The request body is not valid JSON.',
    invalid_credentials: 'Wrong identifier or password.',
    invalid_token: 'The token is not valid.',
    token_expired: 'The token has expired.',
    unknown_passkey: 'This passkey is not known here any more.',
    account_unconfirmed: 'Your account is not confirmed yet.',
    account_locked: 'Your account is locked.',
    two_factor_required: 'Please confirm this with your second factor.',
    reauthentication_required: 'Please sign in again first: your last sign-in is too long ago for this.',
    route_not_found: 'There is nothing at this address.',
    session_not_found: 'There is no such session.',
    account_not_found: 'There is no such account.',
    identity_not_found: 'This identity is not linked to your account.',
    contact_not_found: 'Your account has no such contact.',
    provider_not_found: 'This identity provider is not offered.',
    passkey_not_found: 'There is no such passkey.',
    method_not_allowed: 'This method is not allowed at this address.',
    identifier_taken: 'This identifier is already used by another account.',
    identity_taken: 'This identity is already linked to another account.',
    account_exists:
      'You already have an account with this e-mail address: sign in to it, then link this provider.',
    last_sign_in_method: 'This is your last way to sign in: it cannot be removed.',
    passkey_limit: 'Your account has as many passkeys as it may have: remove one first.',
    two_factor_already_enabled: 'Two-factor authentication is already enabled.',
    two_factor_not_enabled: 'Two-factor authentication is not enabled.',
    no_verified_contact: 'Your account has no verified e-mail address or phone number.',
    password_not_set: 'Your account has no password.',
    body_too_large: 'The request body is too large.',
    unsupported_media_type: 'The request body must be sent as application/json.',
    validation_failed: 'Some fields are not valid.',
    invalid_code: 'This code is not valid or has expired.',
    invalid_passkey: 'This passkey could not be verified. Please try again.',
    invalid_sign_in_state:
      'This sign-in was not started in this browser, or too long ago. Please start again.',
    country_not_allowed: 'We do not send SMS to this country.',
    channel_not_available: 'We cannot send messages to this kind of address or number.',
    invalid_redirect_uri: 'This return address is not allowed.',
    too_many_attempts: 'Too many wrong codes were entered. Please try again later.',
    too_many_requests: 'Too many requests were sent. Please wait before you try again.',
    internal_error: 'Something unexpected went wrong. Please try again later.',
    provider_unavailable: 'The identity provider does not answer. Please try again in a moment.',
    server_busy: 'The service is very busy. Please try again in a moment.',
    unavailable: 'The service is not available right now. Please try again in a moment.',
  },
  fields: {
    required: 'This field is required.',
    invalid_type: 'This field is not of the expected type.',
    invalid_value: 'This value is not one of the allowed ones.',
    too_long: 'This value is too long.',
    invalid_email: 'This e-mail address is not valid.',
    invalid_phone: 'This phone number is not valid.',
    invalid_characters: 'This field contains forbidden characters.',
    identifier_required: 'Please give an e-mail address or a phone number.',
    password_mismatch: 'The two passwords are not the same.',
    weak_password: 'This password is too weak.',
    wrong_password: 'This is not your password.',
  },
  weakPassword: {
    too_short: 'This password is too short.',
    common: 'This password is too common: it would soon be guessed.',
    is_identifier: 'The password must not be your identifier.',
    is_service_name: 'The password must not be made of the name of this service.',
  },
  sentences: {
    passkey_removed: 'The passkey has been removed.',
    registered_by_email: 'A 6-digit code has been sent to you by e-mail.',
    registered_by_sms: 'A 6-digit code has been sent to you by SMS.',
    account_confirmed: 'Your account has been confirmed.',
    account_confirmed_choose_password:
      'Your account has been confirmed. Several registrations with different passwords were waiting for it: please choose a password by password reset.',
    confirmation_resent: 'A new confirmation code has been sent to you.',
    password_reset_sent: 'If an account has this identifier, a 6-digit code has been sent to it.',
    password_reset: 'Your password has been changed. You can now sign in.',
    password_changed: 'Your password has been changed.',
    email_change_sent: 'A 6-digit code has been sent to the new e-mail address.',
    phone_change_sent: 'A 6-digit code has been sent to the new phone number.',
    two_factor_code_sent: 'A 6-digit code has been sent to you again.',
    two_factor_app_required: 'Enter the code of your authenticator app to finish signing in.',
    two_factor_recovery_required: 'Enter one of your recovery codes to finish signing in.',
    two_factor_unavailable: 'No code can be sent to you right now. Please try again later.',
    two_factor_enrolment_sent: 'A 6-digit code has been sent to you to turn on two-factor sign-in.',
    two_factor_disabled: 'Two-factor sign-in is off.',
    two_factor_required: 'A 6-digit code has been sent to you to finish signing in.',
    logged_out: 'You are signed out.',
    logged_out_everywhere: 'You are signed out on all your devices.',
    session_ended: 'This device has been signed out.',
    account_erased: 'Your account has been erased for good.',
  },
  messages: {
    greeting: 'Hello,',
    quotes: ['“', '”'],
    circumstances: ({ device }, date) => `When: ${date}.${device ? ` Device: ${device}.` : ''}`,
    footer: ({ service }) => `${service} — this message was sent automatically, please do not reply.`,
    codeFrame: {
      subject: ({ subject }, { service }) => `${subject} ${service}`,
      above: ({ purpose }, { service }) => [`Here is your code to ${purpose} ${service}:`],
      below: (facts) => [lifetime(facts), ignore],
      sms: ({ smsPurpose }, facts, digits) =>
        `${facts.service}: ${digits} is your ${smsPurpose} code. Valid ${facts.minutes} min. Do not share it.`,
    },
    smsNotice: ({ service }, sentence) => `${service}: ${sentence}`,
    codes: {
      confirmation: {
        subject: 'Confirm your account at',
        purpose: 'confirm your account at',
        smsPurpose: 'confirmation',
      },
      login_code: { subject: 'Your sign-in code for', purpose: 'sign in to', smsPurpose: 'sign-in' },
      two_factor: {
        subject: 'Finish signing in to',
        purpose: 'finish signing in to',
        smsPurpose: 'second-step',
      },
      step_up: {
        subject: 'Confirm a change to your account at',
        purpose: 'confirm a change to your account at',
        smsPurpose: 'account change',
      },
      password_reset: {
        subject: 'Choose a new password for',
        purpose: 'choose a new password for',
        smsPurpose: 'password reset',
      },
      email_change: {
        subject: 'Confirm your e-mail address for',
        purpose: 'confirm your new e-mail address for',
        smsPurpose: 'e-mail change',
      },
      phone_change: {
        subject: 'Confirm your phone number for',
        purpose: 'confirm your new phone number for',
        smsPurpose: 'phone change',
      },
      two_factor_enrolment: {
        subject: 'Turn on two-factor sign-in for',
        purpose: 'turn on two-factor sign-in for',
        smsPurpose: 'two-factor activation',
      },
    },
    notices: {
      account_exists: {
        subject: ({ service }) => `You already have an account at ${service}`,
        paragraphs: ({ service }) => [
          `Somebody, most likely you, has just asked for an account at ${service} with this address. It already has one: sign in, or ask for a new password if you have forgotten yours.`,
          'If you did not ask for this, you can ignore this message: nothing has changed.',
        ],
        sms: () => 'you already have an account with this number. Sign in, or ask for a new password.',
      },
      password_changed: {
        subject: ({ service }) => `Your password for ${service} has changed`,
        paragraphs: ({ service, removed }) => [
          `The password of your account at ${service} has just been changed.`,
          ...(removed
            ? [`Added within the last seven days and removed with it: ${removed.map(nameOf).join(', ')}.`]
            : []),
          'If this was not you, ask for a new password at once.',
        ],
        sms: () => 'your password has changed. If this was not you, ask for a new one at once.',
      },
      email_changed: {
        subject: ({ service }) => `The e-mail address of your account at ${service} has changed`,
        paragraphs: ({ service }) => [
          `The e-mail address of your account at ${service} has just been changed.`,
          alarm,
        ],
        sms: () => `the e-mail address of your account has changed. ${alarm}`,
      },
      phone_changed: {
        subject: ({ service }) => `The phone number of your account at ${service} has changed`,
        paragraphs: ({ service }) => [
          `The phone number of your account at ${service} has just been changed.`,
          alarm,
        ],
        sms: () => `the phone number of your account has changed. ${alarm}`,
      },
      email_removed: {
        subject: ({ service }) => `The e-mail address of your account at ${service} was removed`,
        paragraphs: ({ service }) => [
          `The e-mail address of your account at ${service} has just been removed. You cannot sign in with it any more.`,
          alarm,
        ],
        sms: () => `the e-mail address of your account has been removed. ${alarm}`,
      },
      phone_removed: {
        subject: ({ service }) => `The phone number of your account at ${service} was removed`,
        paragraphs: ({ service }) => [
          `The phone number of your account at ${service} has just been removed. You cannot sign in with it any more.`,
          alarm,
        ],
        sms: () => `the phone number of your account has been removed. ${alarm}`,
      },
      account_erased: {
        subject: ({ service }) => `Your account at ${service} has been erased`,
        paragraphs: ({ service }) => [
          `Your account at ${service} has just been erased, with everything that belonged to it. It cannot be restored.`,
        ],
        sms: () => 'your account has been erased. It cannot be restored.',
      },
      contact_claimed: {
        subject: ({ service }) => `Somebody tried to use your contact for another account at ${service}`,
        paragraphs: ({ service }) => [
          `Somebody has just asked to add this e-mail address or phone number to another account at ${service}. It belongs to yours, and stays there: nothing has changed.`,
          'If that was you, change it in this account first. If not, you can ignore this message.',
        ],
        sms: () =>
          'somebody asked to add your number to another account. It stays yours: nothing has changed.',
      },
      two_factor_enabled: {
        subject: ({ service }) => `Two-factor sign-in is on for your account at ${service}`,
        paragraphs: ({ service }) => [
          `Two-factor sign-in has just been turned on for your account at ${service}.`,
          alarm,
        ],
        sms: () => `two-factor sign-in is now on for your account. ${alarm}`,
      },
      account_unlocked: {
        subject: ({ service }) => `Your account at ${service} is unlocked`,
        paragraphs: ({ service }) => [
          `Your account at ${service} has been unlocked by its administrators. You can sign in again.`,
        ],
        sms: () => 'your account has been unlocked by its administrators. You can sign in again.',
      },
      two_factor_disabled: {
        subject: ({ service }) => `Two-factor sign-in is off for your account at ${service}`,
        paragraphs: ({ service }) => [
          `Two-factor sign-in has just been turned off for your account at ${service}.`,
          alarm,
        ],
        sms: () => `two-factor sign-in is now off for your account. ${alarm}`,
      },
      authenticator_changed: {
        subject: ({ service }) => `A new authenticator app for your account at ${service}`,
        paragraphs: ({ service }) => [
          `The codes to sign in to your account at ${service} now come from another authenticator app, and there are new recovery codes. The old ones no longer work.`,
          alarm,
        ],
        sms: () => `your account now takes its codes from another authenticator app. ${alarm}`,
      },
      recovery_code_used: {
        subject: ({ service }) => `A recovery code was used on your account at ${service}`,
        paragraphs: ({ service, left }) => [
          `A recovery code of your account at ${service} has just been used.${left ? ` Codes left: ${left}.` : ''}`,
          alarm,
        ],
        sms: ({ left }) =>
          `a recovery code of your account was used.${left ? ` Codes left: ${left}.` : ''} ${alarm}`,
      },
      recovery_codes_replaced: {
        subject: ({ service }) => `New recovery codes for your account at ${service}`,
        paragraphs: ({ service }) => [
          `New recovery codes have just been created for your account at ${service}. The old ones no longer work.`,
          alarm,
        ],
        sms: () => `the recovery codes of your account have been replaced. ${alarm}`,
      },
      authenticator_lost: {
        subject: ({ service }) => `${service} no longer recognises your authenticator app`,
        paragraphs: ({ service }) => [
          `After a change on the server of ${service}, the codes of your authenticator app can no longer be checked. Sign in with a recovery code, and then add your app again.`,
          'If you have no recovery code left, a code will be sent to you when you sign in.',
        ],
        sms: () =>
          'your authenticator app is no longer recognised. Sign in with a recovery code, and then add the app again.',
      },
      second_factor_failed: {
        subject: ({ service }) => `Wrong codes after your password at ${service}`,
        paragraphs: ({ service }) => [
          `Somebody who knows your password at ${service} has typed several wrong codes on a device that you have not used before.`,
          'If this was you, there is nothing to do. If not, change your password at once: the second step has kept them out so far.',
        ],
        sms: () =>
          `somebody who knows your password typed wrong codes. If this was not you, change your password.`,
      },
      refresh_token_reused: {
        subject: ({ service }) => `A device was signed out of your account at ${service}`,
        paragraphs: ({ service }) => [
          `A session of your account at ${service} was used in two places at once. To be safe we have closed it: sign in again on that device.`,
          'If you do not recognise this activity, change your password.',
        ],
        sms: () => `a session of your account was closed to be safe. ${alarm}`,
      },
      identity_linked: {
        subject: ({ service }) => `A new way to sign in to your account at ${service}`,
        paragraphs: ({ service, provider }) => [
          `Your account at ${service} can now be opened with ${provider ? `your ${provider} account` : 'an account elsewhere'}.`,
          'If this was not you, remove this way in and change your password at once.',
        ],
        sms: ({ provider }) =>
          `your account can now be opened with ${provider ?? 'an account elsewhere'}. ${alarm}`,
      },
      passkey_added: {
        subject: ({ service }) => `A passkey was added to your account at ${service}`,
        paragraphs: ({ service, passkey }) => [
          `Your account at ${service} can now be opened with a new passkey${passkey ? `, ${passkey}` : ''}.`,
          'If this was not you, remove it and change your password at once.',
        ],
        sms: ({ passkey }) =>
          `a passkey${passkey ? ` (${passkey})` : ''} was added to your account. ${alarm}`,
      },
      passkey_removed: {
        subject: ({ service }) => `A passkey was removed from your account at ${service}`,
        paragraphs: ({ service, passkey }) => [
          `The passkey${passkey ? ` ${passkey}` : ''} no longer opens your account at ${service}.`,
          alarm,
        ],
        sms: ({ passkey }) =>
          `a passkey${passkey ? ` (${passkey})` : ''} was removed from your account. ${alarm}`,
      },
      passkey_copied: {
        subject: ({ service }) => `A passkey of your account at ${service} may have been copied`,
        paragraphs: ({ service, passkey }) => [
          `We refused a sign-in to your account at ${service}: the passkey${passkey ? ` ${passkey}` : ''} was used in a way that only a copy of it explains.`,
          'Remove that passkey and add a new one.',
        ],
        sms: ({ passkey }) =>
          `a sign-in was refused: the passkey${passkey ? ` ${passkey}` : ''} may have been copied. Remove it.`,
      },
      identity_unlinked: {
        subject: ({ service }) => `A way to sign in to your account at ${service} was removed`,
        paragraphs: ({ service, provider }) => [
          `Your account at ${service} can no longer be opened with ${provider ? `your ${provider} account` : 'an account elsewhere'}.`,
          alarm,
        ],
        sms: ({ provider }) =>
          `your account can no longer be opened with ${provider ?? 'an account elsewhere'}. ${alarm}`,
      },
    },
  },
  mailbox: {
    title: 'Mailbox',
    about: 'Nothing goes out: messages land here.',
    empty: 'No message here.',
    copy: 'Copy',
    copied: 'Copied',
    email: 'E-mail',
    sms: 'SMS',
    all: 'All messages',
    channel: 'Kind of message',
    notice: 'Notice',
    filter: 'Filter by recipient or text',
    clear: 'Clear',
    text_part: 'Text',
    html_part: 'HTML version',
    demonstration: 'Demonstration',
    documentation: 'API documentation',
  },
  purposes: {
    confirmation: 'Account confirmation',
    login_code: 'Login by code',
    two_factor: 'Second step',
    step_up: 'Confirmation of an action',
    password_reset: 'New password',
    email_change: 'New e-mail address',
    phone_change: 'New phone number',
    two_factor_enrolment: 'Turning on two factors',
  },
  demonstration: {
    passkey_sign_in: 'Sign in with a passkey',
    passkeys: 'Passkeys',
    add_passkey: 'Add a passkey',
    remove: 'Remove',
    no_passkey: 'None yet. With a passkey you sign in without a password.',
    mailbox: 'Mailbox',
    documentation: 'API documentation',
    requests: 'Requests of this page',
    requests_hint: 'This page uses the public interface only. Secrets are masked.',
    no_connection: 'The service does not answer. Please try again in a moment.',
    sign_in: 'Sign in',
    sign_in_hint: 'Codes arrive in the mailbox.',
    identifier: 'E-mail or phone',
    password: 'Password',
    new_password: 'New password',
    email: 'E-mail',
    phone: 'Phone',
    create_account: 'Create an account',
    create_hint: 'An e-mail address, a phone number, or both.',
    have_account: 'I have an account',
    code_instead: 'Sign in with a code',
    forgot: 'Forgot password',
    confirm: 'Confirm the account',
    code: '6-digit code',
    code_or_recovery: 'Code, or recovery code',
    code_sent_to: 'A code has been sent to {to}.',
    if_account: 'If {to} has an account, a code is on its way.',
    send_code: 'Send a code',
    send_again: 'Send it again',
    set_password: 'Save the password',
    back: 'Back',
    second_step: 'Second step',
    open_app: 'Open your authenticator app and enter the code it shows.',
    recovery_only: 'Enter a recovery code.',
    signed_in: 'You are signed in',
    verified: 'Verified',
    two_factors: 'Two factors',
    yes: 'Yes',
    no: 'No',
    sign_out: 'Sign out',
    sessions: 'Sessions',
    this_session: 'This session',
    unnamed_device: 'Unnamed device',
    this_browser: 'This browser',
    end: 'End',
    add_app: 'Add an authenticator app',
    go_on: 'Continue',
    scan: 'Scan this QR code with your app, then enter the code it shows.',
    or_type: 'Or type this key:',
    recovery_codes: 'Recovery codes',
    recovery_hint: 'Keep them somewhere safe: each one replaces a code once.',
    saved: 'I have saved them',
  },
}
