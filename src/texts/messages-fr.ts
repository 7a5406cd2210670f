/** What people receive, in French. */
import type { MessageFacts, MessageFrame, MessageTemplate } from './message-template.ts'

const minutes = ({ minutes }: MessageFacts) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)
const lifetime = (facts: MessageFacts) =>
  `Ce code est valable ${minutes(facts)} et ne sert qu'une fois. Ne le communiquez à personne.`
const ignore = `Si vous n'êtes pas à l'origine de cette demande, ignorez ce message.`
const alarm = `Si ce n'était pas vous, changez votre mot de passe sans attendre.`

export const frame: MessageFrame = {
  greeting: 'Bonjour,',
  footer: ({ service }) => `${service} — message automatique, merci de ne pas y répondre.`,
}

function code(subject: string, purpose: string, smsPurpose: string): MessageTemplate {
  return {
    subject: ({ service }) => `${subject} ${service}`,
    above: ({ service }) => [`Voici votre code pour ${purpose} ${service} :`],
    below: (facts) => [lifetime(facts), ignore],
    sms: (facts, digits) =>
      `${facts.service} : ${digits} est votre code ${smsPurpose}. Valable ${facts.minutes} min. Ne le donnez à personne.`,
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
    sms: (facts) => `${facts.service} : ${sms(facts)}`,
  }
}

export const messages = {
  confirmation: code('Confirmez votre compte', 'confirmer votre compte', 'de confirmation'),
  two_factor: code('Votre code de connexion à', 'vous connecter à', 'de connexion'),
  password_reset: code(
    'Choisissez un nouveau mot de passe sur',
    'choisir un nouveau mot de passe sur',
    'pour un nouveau mot de passe',
  ),
  email_change: code(
    'Confirmez votre adresse e-mail sur',
    'confirmer votre nouvelle adresse e-mail sur',
    'pour votre nouvelle adresse e-mail',
  ),
  phone_change: code(
    'Confirmez votre numéro sur',
    'confirmer votre nouveau numéro de téléphone sur',
    'pour votre nouveau numéro',
  ),
  two_factor_enrolment: code(
    'Activez la double authentification sur',
    'activer la double authentification sur',
    'pour activer la double authentification',
  ),
  account_exists: notice(
    ({ service }) => `Vous avez déjà un compte ${service}`,
    ({ service }) => [
      `Quelqu'un, sans doute vous, vient de demander un compte ${service} avec cette adresse. Elle en a déjà un : connectez-vous, ou demandez un nouveau mot de passe si vous l'avez oublié.`,
      `Si vous n'êtes pas à l'origine de cette demande, ignorez ce message : rien n'a changé.`,
    ],
    () => `vous avez déjà un compte avec ce numéro. Connectez-vous, ou demandez un nouveau mot de passe.`,
  ),
  password_changed: notice(
    ({ service }) => `Votre mot de passe ${service} a changé`,
    ({ service }) => [
      `Le mot de passe de votre compte ${service} vient de changer.`,
      `Si ce n'était pas vous, demandez un nouveau mot de passe sans attendre.`,
    ],
    () => `votre mot de passe a changé. Si ce n'était pas vous, demandez-en un nouveau sans attendre.`,
  ),
  email_changed: notice(
    ({ service }) => `L'adresse e-mail de votre compte ${service} a changé`,
    ({ service }) => [`L'adresse e-mail de votre compte ${service} vient de changer.`, alarm],
    () => `l'adresse e-mail de votre compte a changé. ${alarm}`,
  ),
  phone_changed: notice(
    ({ service }) => `Le numéro de votre compte ${service} a changé`,
    ({ service }) => [`Le numéro de téléphone de votre compte ${service} vient de changer.`, alarm],
    () => `le numéro de votre compte a changé. ${alarm}`,
  ),
  contact_claimed: notice(
    ({ service }) => `Vos coordonnées ont été demandées pour un autre compte ${service}`,
    ({ service }) => [
      `Une personne vient de demander à ajouter cette adresse e-mail ou ce numéro à un autre compte ${service}. Il appartient au vôtre et y reste : rien n'a changé.`,
      `Si c'était vous, modifiez-le d'abord dans ce compte. Sinon, vous pouvez ignorer ce message.`,
    ],
    () => `une personne a voulu ajouter votre numéro à un autre compte. Rien n'a changé.`,
  ),
  two_factor_enabled: notice(
    ({ service }) => `Double authentification activée sur votre compte ${service}`,
    ({ service }) => [`La double authentification vient d'être activée sur votre compte ${service}.`, alarm],
    () => `la double authentification de votre compte est maintenant active. ${alarm}`,
  ),
  two_factor_disabled: notice(
    ({ service }) => `Double authentification désactivée sur votre compte ${service}`,
    ({ service }) => [
      `La double authentification vient d'être désactivée sur votre compte ${service}.`,
      alarm,
    ],
    () => `la double authentification de votre compte est maintenant inactive. ${alarm}`,
  ),
  authenticator_changed: notice(
    ({ service }) => `Nouvelle application d'authentification pour votre compte ${service}`,
    ({ service }) => [
      `Les codes de connexion de votre compte ${service} viennent maintenant d'une autre application d'authentification, et vos codes de secours ont été renouvelés. Les anciens ne sont plus valables.`,
      alarm,
    ],
    () => `vos codes de connexion viennent d'une autre application. ${alarm}`,
  ),
  recovery_code_used: notice(
    ({ service }) => `Un code de secours de votre compte ${service} a été utilisé`,
    ({ service, left }) => [
      `Un code de secours de votre compte ${service} vient d'être utilisé.${left ? ` Codes restants : ${left}.` : ''}`,
      alarm,
    ],
    ({ left }) =>
      `un code de secours de votre compte a été utilisé.${left ? ` Codes restants : ${left}.` : ''} ${alarm}`,
  ),
  refresh_token_reused: notice(
    ({ service }) => `Un appareil a été déconnecté de votre compte ${service}`,
    ({ service, device }) => [
      `Une session de votre compte ${service} a été utilisée à deux endroits à la fois${device ? ` (${device})` : ''}. Par prudence, nous l'avons fermée : reconnectez-vous sur cet appareil.`,
      `Si vous ne reconnaissez pas cette activité, changez votre mot de passe.`,
    ],
    () => `une session de votre compte a été fermée par prudence. ${alarm}`,
  ),
  identity_linked: notice(
    ({ service }) => `Nouvelle façon de se connecter à votre compte ${service}`,
    ({ service, provider }) => [
      `Votre compte ${service} peut maintenant être ouvert avec ${provider ? `votre compte ${provider}` : 'un compte extérieur'}.`,
      `Si ce n'était pas vous, retirez cet accès et changez votre mot de passe sans attendre.`,
    ],
    ({ provider }) =>
      `votre compte s'ouvre maintenant aussi avec ${provider ?? 'un compte extérieur'}. ${alarm}`,
  ),
}
