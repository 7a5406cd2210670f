/** English: the same rows as fr.ts; a missing one is a type error. */

import { pagesEn } from './pages/en.ts'
import type { Texts } from './texts.ts'

const alarm = 'If this was not you, change your password at once.'
/** The app of somebody else stays after a reset. */
const strangeApp =
  '[If this was not you, reset your password at once and tell the administrators: {support}|If this was not you, reset your password at once.]'
const restore = 'If this was not you, undo this within seven days: {link}'
const smsRestore = 'If this was not you, undo this within 7 days: {link}'

export const en: Texts = {
  errors: {
    malformed_json: 'The request body is not valid JSON.',
    invalid_request: 'This request is not complete or not valid.',
    invalid_grant: 'This code or token is not valid or has expired.',
    unsupported_grant_type: 'This grant type is not offered.',
    invalid_client: 'This application is not known here.',
    invalid_credentials: 'Wrong identifier or password.',
    invalid_token: 'The token is not valid.',
    token_expired: 'The token has expired.',
    login_expired: 'This sign-in has expired. Please start again.',
    unknown_passkey: 'This passkey is not known here any more.',
    account_unconfirmed: 'This account is not confirmed yet.',
    account_locked: 'This account is locked.',
    account_incomplete:
      'Your account is not complete yet, so nobody can sign in with it. Please contact the operator of this service.',
    test_identity: 'This account is for tests: only its language can be changed, and it can be deleted.',
    two_factor_required: 'Please confirm this with your second factor.',
    reauthentication_required: 'Please sign in again first: your last sign-in is too long ago for this.',
    passkey_too_new:
      'This passkey was added a moment ago. Please confirm with your password or another factor, or use it tomorrow.',
    insufficient_scope: 'You are not allowed to do this.',
    registration_closed: 'New accounts cannot be opened here without an invitation.',
    invalid_invitation: 'This invitation is not valid, has expired or is used up.',
    domain_not_allowed: 'Accounts need an e-mail address of another domain here.',
    registration_refused: 'This account could not be opened. Please ask those who run this service.',
    route_not_found: 'There is nothing at this address.',
    session_not_found: 'There is no such session.',
    device_not_found: 'There is no such trusted device.',
    account_not_found: 'There is no such account.',
    message_not_found: 'There is no such message.',
    token_not_found: 'There is no such token.',
    administrator_not_found: 'This account is not an administrator.',
    identity_not_found: 'This identity is not linked to your account.',
    contact_not_found: 'Your account has no such contact.',
    invitation_not_found: 'There is no such invitation.',
    prefix_not_found: 'This prefix of numbers is open.',
    webhook_not_found: 'There is no such webhook.',
    application_not_found: 'There is no such application.',
    provider_not_found: 'This identity provider is not offered.',
    passkey_not_found: 'There is no such passkey.',
    method_not_allowed: 'This method is not allowed at this address.',
    identifier_taken: 'This identifier is already used by another account.',
    identity_taken: 'This identity is already linked to another account.',
    username_taken: 'This username belongs to somebody else, or did once.',
    account_exists:
      'You already have an account with this e-mail address: sign in to it, then link this provider.',
    last_sign_in_method: 'This is your last way to sign in: it cannot be removed.',
    no_other_factor:
      'The second factor of an account without a password is an authenticator app or a passkey, never a code that is sent. Add one of them first, or choose a password.',
    passkey_limit: 'Your account has as many passkeys as it may have: remove one first.',
    identity_limit: 'Your account is linked to as many other accounts as it may be: unlink one first.',
    group_limit: 'This account would be in too many groups.',
    two_factor_already_enabled: 'Two-factor sign-in is already on.',
    two_factor_not_enabled: 'Two-factor sign-in is not on.',
    no_verified_contact: 'This account has no verified e-mail address or phone number.',
    password_not_set: 'This account has no password.',
    password_already_set: 'This account is confirmed and has a password: it needs no invitation.',
    use_another_method: 'No code is sent to this account. Please use another method.',
    not_resendable:
      'It cannot be sent again: only a refused message, a code while it is valid, or the code of an account that waits for it.',
    body_too_large: 'The request body is too large.',
    unsupported_media_type: 'The request body must be sent as {type}.',
    validation_failed: 'Some fields are not valid.',
    claims_too_large: 'The claims of the access token would be too large.',
    invalid_code: 'This code is not valid, has expired, or was used already.',
    invalid_passkey: 'This passkey could not be verified. Please try again.',
    invalid_sign_in_state:
      'This sign-in was not started in this browser, or too long ago. Please start again.',
    country_not_allowed: 'We do not send SMS to this country.',
    channel_not_available: 'We cannot send messages to this kind of address or number.',
    invalid_redirect_uri: 'This return address is not allowed.',
    idempotency_key_reused: 'This Idempotency-Key was already used for another request.',
    terms_required: 'Please accept the terms of use first.',
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
    invalid_value: 'This value is not accepted.',
    too_long: 'This value is too long.',
    invalid_email: 'This e-mail address is not valid.',
    invalid_phone: 'This phone number is not valid.',
    invalid_characters: 'This field contains forbidden characters.',
    identifier_required: 'Please give an e-mail address or a phone number.',
    password_mismatch: 'The two passwords are not the same.',
    weak_password: 'This password is too weak.',
    wrong_password: 'This is not your password.',
    not_allowed: 'This cannot be set here.',
    reserved: 'This name is reserved.',
    unknown_role: 'There is no role of this name; the nearest is {nearest}.',
    unknown_field: 'This name is not known here.',
  },
  weak_password: {
    too_short: 'This password is too short: it needs at least {minimum} characters.',
    common: 'This password is too common: it would soon be guessed.',
    is_identifier: 'The password must not be your identifier.',
    is_service_name: 'The password must not be made of the name of this service.',
  },
  sentences: {
    number_between: 'Expected is a whole number from {minimum} to {maximum}.',
    nearest_name: 'The nearest one is {nearest}.',
    factor_stays:
      'It is the only second factor of an account without a password: what would be left are recovery codes. For somebody who lost it, make a temporary access code (access-code) with remove_factors.',
    way_in_stays:
      'It is the last way into this account. For somebody who lost it, make a temporary access code (access-code) with remove_factors.',
    passkey_removed: 'The passkey has been removed.',
    code_sent_by_email: 'A 6-digit code has been sent to you by e-mail.',
    code_sent_by_sms: 'A 6-digit code has been sent to you by SMS.',
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
    two_factor_passkey_required: 'Use your passkey to finish signing in.',
    two_factor_recovery_required: 'Enter one of your recovery codes to finish signing in.',
    two_factor_unavailable: 'No code can be sent to you right now. Please try again later.',
    two_factor_enrolment_sent: 'A 6-digit code has been sent to you to turn on two-factor sign-in.',
    two_factor_disabled: 'Two-factor sign-in is off.',
    two_factor_required: 'A 6-digit code has been sent to you to finish signing in.',
    logged_out: 'You are signed out.',
    logged_out_everywhere: 'You are signed out on all your devices.',
    session_ended: 'This device has been signed out.',
    device_forgotten: 'This device is no longer trusted.',
    removal_asked: 'Two-factor sign-in of your account is about to be turned off.',
    removal_stop: 'Keep it on.',
    removal_stopped: 'Two-factor sign-in stays on.',
    removal_gone: 'There is nothing to stop here any more.',
    account_erased: 'Your account has been erased for good.',
  },
  messages: {
    greeting: 'Hello,',
    quotes: ['“', '”'],
    circumstances: 'When: {date}.[ Device: {device}.][ IP address: {address}.]',
    footer: '{service} — this message was sent automatically, please do not reply.',
    reasons: {
      entered:
        '[Sent to {recipient}, because|Sent because] somebody entered this address at {host}.[ Questions: {support}]',
      owned:
        '[Sent to {recipient}, because|Sent because] your account at {host} has this address.[ Questions: {support}]',
    },
    review: 'Review your account',
    reset: 'Choose a new password',
    actions: {
      undo: 'Undo this change',
      keep: 'Keep it on',
      accept: 'Accept the invitation',
      administer: 'Open administration',
    },
    below_code: [
      'Good for {duration}, once',
      'Do not share this code with anyone. If you did not ask for it, you can ignore this message.',
    ],
    unasked: {
      two_factor:
        'Do not share this code with anyone. If you are not signing in, change your password at once: somebody else may know it.',
      step_up:
        'Do not share this code with anyone. If this is not you, sign out all devices and change your password: somebody else may be signed in.',
      recovery:
        'Do not share this code with anyone. If you did not ask for it, tell the administrators: somebody may have deceived them.',
      invitation: 'Do not share this code with anyone. If you do not know {service}, there is nothing to do.',
    },
    duration: { one: '{minutes} minute', other: '{minutes} minutes' },
    removed: {
      email: 'the e-mail address',
      phone: 'the phone number',
      passkey: 'a passkey',
      identity: 'signing in through {provider}',
    },
    codes: {
      confirmation: {
        subject: 'Confirm your account at {service}',
        email: ['Enter this code where you created your account:'],
        sms: '{service}: {code} is your confirmation code. Valid {minutes} min. Do not share it.',
      },
      login_code: {
        subject: 'Your sign-in code for {service}',
        email: ['Enter this code where you are signing in:'],
        sms: '{service}: {code} is your sign-in code. Valid {minutes} min. Do not share it.',
      },
      two_factor: {
        subject: 'Your code to finish signing in to {service}',
        email: ['Enter this code where you are signing in:'],
        sms: '{service}: {code} is your code to finish signing in. Valid {minutes} min. Do not share it.',
      },
      step_up: {
        subject: 'Confirm a change to your account at {service}',
        email: ['Enter this code where you are making the change:'],
        sms: '{service}: {code} is your code to confirm a change to your account. Valid {minutes} min. Do not share it.',
      },
      password_reset: {
        subject: 'Your code to choose a new password for {service}',
        email: ['Enter this code where you asked for it, with your new password:'],
        sms: '{service}: {code} is your code to choose a new password. Valid {minutes} min. Do not share it.',
      },
      email_change: {
        subject: 'Confirm your new e-mail address for {service}',
        email: ['Enter this code where you gave this address:'],
        sms: '{service}: {code} is your code to confirm your new e-mail address. Valid {minutes} min. Do not share it.',
      },
      phone_change: {
        subject: 'Confirm your new phone number for {service}',
        email: ['Enter this code where you gave this number:'],
        sms: '{service}: {code} is your code to confirm your new phone number. Valid {minutes} min. Do not share it.',
      },
      two_factor_enrolment: {
        subject: 'Turn on two-factor sign-in for {service}',
        email: ['Enter this code where you are turning it on:'],
        sms: '{service}: {code} is your code to turn on two-factor sign-in. Valid {minutes} min. Do not share it.',
      },
      recovery: {
        subject: 'Your temporary access code for {service}',
        email: ['With this code you choose a new password:'],
        sms: '{service}: {code} is your temporary access code. Valid {duration}. Do not share it.',
      },
      invitation: {
        subject: 'Your invitation to {service}',
        email: ['With this code you choose a password for your new account:'],
        sms: '{service}: {code} is your invitation code. Valid {duration}. Do not share it.',
      },
    },
    notices: {
      account_exists: {
        subject: 'You already have an account at {service}',
        email: [
          'Somebody, probably you, has just tried to create another one with this address. If this was not you, there is nothing to do: nothing has changed.',
          'Sign in, or choose a new password if you have forgotten yours.',
        ],
        sms: '{service}: you already have an account with this number. Sign in, or choose a new password if you have forgotten yours.',
      },
      password_changed: {
        subject: 'Your password for {service} was changed',
        email: [
          'The old one no longer works.',
          '[These were added in the last seven days and have been removed: {removed}.]',
          'If this was not you, reset your password at once.',
        ],
        sms: '{service}: your password was changed. If this was not you, reset it at once.',
      },
      email_changed: {
        subject: 'The e-mail address of your account at {service} was changed',
        email: ['You now sign in with the new one.', `[${restore}|${alarm}]`],
        sms: `{service}: the e-mail address of your account was changed. [${smsRestore}|${alarm}]`,
      },
      phone_changed: {
        subject: 'The phone number of your account at {service} was changed',
        email: ['You now sign in with the new one.', `[${restore}|${alarm}]`],
        sms: `{service}: the phone number of your account was changed. [${smsRestore}|${alarm}]`,
      },
      email_removed: {
        subject: 'The e-mail address of your account at {service} was removed',
        email: ['You can no longer sign in with it.', `[${restore}|${alarm}]`],
        sms: `{service}: the e-mail address of your account was removed. [${smsRestore}|${alarm}]`,
      },
      phone_removed: {
        subject: 'The phone number of your account at {service} was removed',
        email: ['You can no longer sign in with it.', `[${restore}|${alarm}]`],
        sms: `{service}: the phone number of your account was removed. [${smsRestore}|${alarm}]`,
      },
      account_erased: {
        subject: 'Your account at {service} was erased',
        email: [
          'Everything that belonged to it is gone, and cannot be restored.',
          '[If this was not you, tell the administrators of {service}: {support}]',
        ],
        sms: '{service}: your account was erased. It cannot be restored.',
      },
      contact_claimed: {
        subject: 'Somebody tried to add your contact to another account at {service}',
        email: [
          'This e-mail address belongs to your account and stays there.',
          'If this was you, remove it from this account first. If not, there is nothing to do.',
        ],
        sms: '{service}: somebody tried to add your number to another account. It stays with yours, and there is nothing to do.',
      },
      two_factor_enabled: {
        subject: 'Two-factor sign-in was turned on for your account at {service}',
        email: ['Signing in now takes a second step.', strangeApp],
        sms: '{service}: two-factor sign-in was turned on for your account. If this was not you, reset your password at once.',
      },
      contact_restored: {
        subject: 'A change of contact was undone on your account at {service}',
        email: [
          'The former e-mail address or phone number belongs to it again. All devices were signed out, and the password no longer works: reset it to sign in.',
          '[These were removed as well: {removed}.]',
          '[If you do not recognise this, tell the administrators of {service}: {support}|If you do not recognise this, reset your password at once.]',
        ],
        sms: '{service}: the former contact of your account was restored. All devices were signed out. Reset your password to sign in.',
      },
      invited: {
        subject: 'Your invitation to {service}',
        email: [
          'With it you can open an account.',
          'Accept the invitation: {link}',
          'If you do not know {service}, there is nothing to do.',
        ],
        sms: '{service}: you are invited to open an account: {link}',
      },
      account_unlocked: {
        subject: 'Your account at {service} is unlocked',
        email: ['You can sign in again.'],
        sms: '{service}: an administrator unlocked your account. You can sign in again.',
      },
      recovery_created: {
        subject: 'A temporary access code for your account at {service} was made',
        email: [
          'An administrator made it. Anybody who has it can choose a new password.',
          '[If you did not ask for it, tell the administrators at once: {support}|If you did not ask for it, somebody may have deceived the administrators. We will write to you when a new password is chosen: if you did not choose it, reset your password at once.]',
        ],
        sms: '{service}: an administrator made a temporary access code for your account. [Not your request? {support}|If your password changes without you, reset it.]',
      },
      two_factor_removal: {
        subject: 'Two-factor sign-in will be turned off for your account at {service}',
        email: [
          'It happens within 24 hours: an administrator was told that you have lost your second factor.',
          'If you did not ask for this, keep it on: {link}',
        ],
        sms: '{service}: two-factor sign-in will be turned off for your account within 24 h. Not your request? Keep it on: {link}',
      },
      two_factor_kept: {
        subject: 'Two-factor sign-in stays on for your account at {service}',
        email: ['It was about to be turned off, but your second factor has just been used.', alarm],
        sms: `{service}: two-factor sign-in stays on, since your second factor was just used. ${alarm}`,
      },
      account_exported: {
        subject: 'Your data at {service} was downloaded',
        email: ['Somebody who is signed in to your account took everything that is stored about you.', alarm],
        sms: `{service}: a copy of your data was downloaded. ${alarm}`,
      },
      new_device: {
        subject: 'New sign-in to your account at {service}',
        email: [
          'It came from a new device or a new place.',
          'If this was you, there is nothing to do. If not, change your password at once. Devices that need no second step will then need it again.',
        ],
        sms: `{service}: new sign-in to your account on a new device or from a new place. ${alarm}`,
      },
      operator_prefix_closed: {
        subject: 'SMS to numbers beginning with {about} are paused at {service}',
        email: [
          'Hardly any code that was sent there was entered, which is how SMS fraud looks. For a day, people without an account get no SMS there.',
        ],
        sms: '{service}: SMS to numbers beginning with {about} are paused for a day, for people without an account.',
      },
      operator_wrong_codes: {
        subject: 'Many wrong codes at {service}',
        email: ['They were entered within a minute. Somebody may be guessing codes.'],
        sms: '{service}: many wrong codes were entered within a minute. Somebody may be guessing codes.',
      },
      operator_pool_dry: {
        subject: 'A message budget is used up at {service}',
        email: [
          'It is the budget {about}. Until it refills, messages that count against it wait or are refused. If you did not expect so many messages, somebody may be causing them on purpose.',
        ],
        sms: '{service}: the message budget {about} is used up.',
      },
      operator_gateway_suspended: {
        subject: 'Codes sent through {about} do not arrive at {service}',
        email: ['Too few of them were entered. For now, this gateway is used only if the others fail.'],
        sms: '{service}: codes sent through the gateway {about} do not arrive.',
      },
      operator_removal_stopped: {
        subject: 'An owner kept two-factor sign-in on at {service}',
        email: [
          'Your support staff had asked to turn it off. Somebody may have deceived them: look at the events of type undo.used.',
        ],
        sms: '{service}: an owner kept two-factor sign-in on that your support staff had asked to turn off.',
      },
      operator_access_granted: {
        subject: 'New access to the administration of {service}',
        email: [
          'Somebody became an administrator or got more rights, or a token of administration was made. If none of you did that, look at the events of types administrator.added, administrator.role_changed and token.created, and take the access away.',
        ],
        sms: '{service}: somebody has new access to administration.',
      },
      operator_accounts_exported: {
        subject: 'The accounts of {service} were taken along in a file',
        email: [
          'Somebody who may run commands on its machine did this. The file holds password hashes and the secrets of authenticator apps. If none of you did that, look at the events of type accounts.exported.',
        ],
        sms: '{service}: the accounts were written to a file.',
      },
      operator_webhook_away: {
        subject: '{about} has taken no events of {service} for an hour',
        email: [
          'Nothing is lost while events are kept: {service} tries again every 15 seconds. “poterne webhooks try {about}” says what is wrong.',
        ],
        sms: '{service}: the webhook {about} has been away for an hour.',
      },
      operator_webhook_given_up: {
        subject: 'An event for {about} was given up at {service}',
        email: [
          'This webhook refused it again and again for four days. “poterne webhooks waiting {about}” says which, and “poterne webhooks retry {about}” sends it again.',
        ],
        sms: '{service}: an event for the webhook {about} was given up.',
      },
      operator_claim_missing: {
        subject: 'Access tokens lack the claim {about} at {service}',
        email: [
          'At least one account has no value for {about}, or all claims together are too large. If the claim is required, that account cannot sign in. The log and poterne doctor name the accounts.',
        ],
        sms: '{service}: access tokens lack the claim {about}.',
      },
      two_factor_disabled: {
        subject: 'Two-factor sign-in was turned off for your account at {service}',
        email: ['Signing in no longer takes a second step.', alarm],
        sms: `{service}: two-factor sign-in was turned off for your account. ${alarm}`,
      },
      authenticator_changed: {
        subject: 'Your account at {service} has a new authenticator app',
        email: [
          'Codes for signing in now come from it. There are new recovery codes, and the old ones no longer work.',
          strangeApp,
        ],
        sms: '{service}: your sign-in codes now come from another authenticator app. If this was not you, reset your password at once.',
      },
      recovery_code_used: {
        subject: 'A recovery code of your account at {service} was used',
        email: ['It no longer works.[ {left} are left.]', alarm],
        sms: `{service}: a recovery code of your account was used. [{left} are left. ]${alarm}`,
      },
      recovery_codes_replaced: {
        subject: 'Your account at {service} has new recovery codes',
        email: ['The old ones no longer work.', alarm],
        sms: `{service}: your account has new recovery codes. ${alarm}`,
      },
      authenticator_lost: {
        subject: '{service} can no longer check the codes of your authenticator app',
        email: [
          'Something has changed on its server. Sign in with a recovery code, then add the app again.',
          'If you have no recovery code left, we will send you a code when you sign in.',
        ],
        sms: '{service}: we can no longer check the codes of your app. Sign in with a recovery code, then add the app again.',
      },
      second_factor_failed: {
        subject: 'Wrong codes after your password at {service}',
        email: [
          'Somebody who knows your password entered them on a device that you have not used before.',
          'If this was you, there is nothing to do. If not, change your password at once. The second factor has kept them out so far.',
        ],
        sms: `{service}: somebody who knows your password entered wrong codes. ${alarm}`,
      },
      refresh_token_reused: {
        subject: 'A device was signed out of your account at {service}',
        email: [
          'Its session was used in two places at once and may have been stolen: sign in again on that device.',
          'If you do not recognise this, change your password at once.',
        ],
        sms: `{service}: a session was used in two places, so we ended it. ${alarm}`,
      },
      identity_linked: {
        subject: 'A new way to sign in to your account at {service}',
        email: [
          'You can now sign in with [your {provider} account|an account elsewhere].',
          'If this was not you, remove it and change your password at once.',
        ],
        sms: `{service}: you can now sign in with [{provider}|an account elsewhere]. ${alarm}`,
      },
      passkey_added: {
        subject: 'A passkey was added to your account at {service}',
        email: [
          'You can now sign in with [{passkey}|it].',
          'If this was not you, remove it and change your password at once.',
        ],
        sms: `{service}: a passkey was added to your account. ${alarm}`,
      },
      passkey_removed: {
        subject: 'A passkey was removed from your account at {service}',
        email: ['You can no longer sign in with [{passkey}|it].', alarm],
        sms: `{service}: a passkey was removed from your account. ${alarm}`,
      },
      passkey_copied: {
        subject: 'A passkey of your account at {service} may have been copied',
        email: [
          'We have just refused a sign-in that seemed to use a copy of [{passkey}|it].',
          'Remove that passkey and add a new one.',
        ],
        sms: '{service}: we refused a sign-in, because a passkey seems to have been copied. Remove that passkey and add a new one.',
      },
      identity_unlinked: {
        subject: 'A way to sign in to your account at {service} was removed',
        email: ['You can no longer sign in with [your {provider} account|an account elsewhere].', alarm],
        sms: `{service}: you can no longer sign in with [{provider}|an account elsewhere]. ${alarm}`,
      },
    },
  },
  undo: {
    title: 'Restore your contact',
    about:
      '{contact} no longer belongs to your account at {service}. If you did not change this yourself, undo it here.',
    effects:
      'All devices will be signed out, what was added since then will be removed, and the password will no longer work. Two-factor sign-in will stay as it was.',
    button: 'Restore',
    done_title: 'Your contact is restored',
    done: '{contact} belongs to your account at {service} again. All devices have been signed out.',
    next: 'To sign in, ask for a new password: a code will be sent to {contact}.',
    invalid_title: 'This link no longer works',
    invalid: 'It has been used, it is more than seven days old, or it is incomplete.',
    taken_title: 'Nothing has been changed',
    taken: '{contact} now belongs to another account at {service}.[ Tell its administrators: {support}]',
    refused_title: 'Please wait',
  },
  mailbox: {
    messages: 'Messages',
    is_new: 'New',
    title: 'Mailbox',
    about: 'No message leaves this machine: all of them appear here.',
    empty: 'No messages yet.',
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
    documentation: 'API documentation',
    administration: 'Administration',
    closed: 'Open the address that poterne printed when it started: the codes are behind it.',
  },
  start: {
    to_pages: 'What people see: registration, sign-in and their account.',
    to_mailbox: 'Every message that would have been sent, with its code.',
    to_documentation: 'Every operation of the interface, to try from here.',
    to_administration: 'The page for owners and support.',
    people: 'People to try things with',
    nobody: 'Nobody yet: start with `--seed`, or register.',
    about_plain: 'Simply signs in.',
    about_authenticator_app: 'Has an authenticator app.',
    about_locked: 'Was locked by an administrator.',
    about_unconfirmed: 'Has not confirmed yet: the code is in the mailbox.',
    about_from_file: 'From your file.',
    owner: 'Owner of the page of administration.',
    password: 'Password',
    app_code: 'Code of the app, now',
    sign_in_as: 'Sign in as {name}',
    application: 'For your application',
    no_application:
      'For sign-in by a redirect, write into config.toml in the folder where poterne was started, and start it again:',
  },
  purposes: {
    confirmation: 'Account confirmation',
    login_code: 'Sign-in code',
    two_factor: 'Two-factor sign-in',
    step_up: 'Confirmation of a change',
    password_reset: 'New password',
    email_change: 'New e-mail address',
    phone_change: 'New phone number',
    two_factor_enrolment: 'Turning on two-factor sign-in',
    recovery: 'Temporary access code',
    invitation: 'Invitation',
  },
  pages: pagesEn,
}
