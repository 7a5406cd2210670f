/**
 * French: every text that a client or a person gets to read. The rows of this file are the ones that each other
 * language must have.
 */
import type { ErrorCode, FieldErrorCode, WeakPasswordReason } from '../errors.ts'
import type { MessageFacts, MessageTexts } from './messages.ts'

const minutes = ({ minutes }: MessageFacts) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)
const lifetime = (facts: MessageFacts) =>
  `Ce code est valable ${minutes(facts)} et ne sert qu'une fois. Ne le communiquez à personne.`
const nameOf = (removed: string) =>
  removed
    .replace(/^email$/, `l'adresse e-mail`)
    .replace(/^phone$/, 'le numéro de téléphone')
    .replace(/^passkey$/, `une clé d'accès`)
    .replace(/^identity /, 'la connexion par ')
const ignore = `Si vous n'êtes pas à l'origine de cette demande, ignorez ce message.`
const alarm = `Si ce n'était pas vous, changez votre mot de passe sans attendre.`

export const fr = {
  errors: {
    malformed_json: 'Le corps de la requête n’est pas un document JSON valide.',
    invalid_credentials: 'Identifiant ou mot de passe incorrect.',
    invalid_token: 'Le jeton présenté n’est pas valide.',
    token_expired: 'Le jeton présenté a expiré.',
    unknown_passkey: 'Cette clé d’accès n’est plus connue ici.',
    account_unconfirmed: 'Votre compte n’est pas encore confirmé.',
    account_locked: 'Votre compte est verrouillé.',
    two_factor_required: 'Confirmez cette opération avec votre second facteur.',
    reauthentication_required:
      'Reconnectez-vous d’abord : votre dernière connexion est trop ancienne pour cette opération.',
    route_not_found: 'Cette adresse n’existe pas.',
    session_not_found: 'Cette session n’existe pas.',
    account_not_found: 'Ce compte n’existe pas.',
    identity_not_found: 'Cette identité n’est pas liée à votre compte.',
    contact_not_found: 'Votre compte n’a pas ce contact.',
    provider_not_found: 'Ce fournisseur d’identité n’est pas proposé.',
    passkey_not_found: 'Cette clé d’accès n’existe pas.',
    method_not_allowed: 'Cette méthode n’est pas permise à cette adresse.',
    identifier_taken: 'Cet identifiant est déjà utilisé par un autre compte.',
    identity_taken: 'Cette identité est déjà liée à un autre compte.',
    account_exists:
      'Vous avez déjà un compte avec cette adresse e-mail : connectez-vous à ce compte, puis liez ce fournisseur.',
    last_sign_in_method: 'C’est votre dernier moyen de connexion : il ne peut pas être retiré.',
    passkey_limit: 'Votre compte a autant de clés d’accès que possible : retirez-en une d’abord.',
    two_factor_already_enabled: 'La double authentification est déjà activée.',
    two_factor_not_enabled: 'La double authentification n’est pas activée.',
    no_verified_contact: 'Votre compte n’a ni adresse e-mail ni numéro de téléphone vérifié.',
    password_not_set: 'Votre compte n’a pas de mot de passe.',
    body_too_large: 'Le corps de la requête est trop volumineux.',
    unsupported_media_type: 'Le corps de la requête doit être envoyé en application/json.',
    validation_failed: 'Certains champs ne sont pas valides.',
    invalid_code: 'Ce code n’est pas valide ou a expiré.',
    invalid_passkey: 'Cette clé d’accès n’a pas pu être vérifiée. Veuillez réessayer.',
    invalid_sign_in_state:
      'Cette connexion n’a pas été commencée dans ce navigateur, ou l’a été il y a trop longtemps. Veuillez recommencer.',
    country_not_allowed: 'Nous n’envoyons pas de SMS vers ce pays.',
    channel_not_available: 'Nous ne pouvons pas envoyer de message à ce type d’adresse ou de numéro.',
    invalid_redirect_uri: 'Cette adresse de retour n’est pas autorisée.',
    too_many_attempts: 'Trop de codes erronés ont été saisis. Veuillez réessayer plus tard.',
    too_many_requests: 'Trop de demandes ont été envoyées. Veuillez patienter avant de réessayer.',
    internal_error: 'Une erreur inattendue s’est produite. Veuillez réessayer plus tard.',
    provider_unavailable: 'Le fournisseur d’identité ne répond pas. Veuillez réessayer dans un instant.',
    server_busy: 'Le service est très sollicité. Veuillez réessayer dans un instant.',
    unavailable: 'Le service est momentanément indisponible. Veuillez réessayer dans un instant.',
  } satisfies Record<ErrorCode, string>,
  fields: {
    required: 'Ce champ est obligatoire.',
    invalid_type: 'Ce champ n’est pas du type attendu.',
    invalid_value: 'Cette valeur ne fait pas partie des valeurs permises.',
    too_long: 'Cette valeur est trop longue.',
    invalid_email: 'Cette adresse e-mail n’est pas valide.',
    invalid_phone: 'Ce numéro de téléphone n’est pas valide.',
    invalid_characters: 'Ce champ contient des caractères interdits.',
    identifier_required: 'Veuillez indiquer une adresse e-mail ou un numéro de téléphone.',
    password_mismatch: 'Les deux mots de passe ne sont pas identiques.',
    weak_password: 'Ce mot de passe est trop faible.',
    wrong_password: 'Ce n’est pas votre mot de passe.',
  } satisfies Record<FieldErrorCode, string>,
  weakPassword: {
    too_short: 'Ce mot de passe est trop court.',
    common: 'Ce mot de passe est trop répandu : il serait vite deviné.',
    is_identifier: 'Le mot de passe ne doit pas reprendre votre identifiant.',
    is_service_name: 'Le mot de passe ne doit pas se réduire au nom de ce service.',
  } satisfies Record<WeakPasswordReason, string>,
  sentences: {
    passkey_removed: 'La clé d’accès a été retirée.',
    registered_by_email: 'Un code à 6 chiffres vous a été envoyé par e-mail.',
    registered_by_sms: 'Un code à 6 chiffres vous a été envoyé par SMS.',
    account_confirmed: 'Votre compte a été confirmé avec succès.',
    account_confirmed_choose_password:
      'Votre compte a été confirmé avec succès. Plusieurs inscriptions l’attendaient avec des mots de passe différents : veuillez en choisir un par la réinitialisation du mot de passe.',
    confirmation_resent: 'Un nouveau code de confirmation vous a été envoyé.',
    password_reset_sent:
      'Si un compte correspond à cet identifiant, un code à 6 chiffres vient de lui être envoyé.',
    password_reset: 'Votre mot de passe a été modifié. Vous pouvez maintenant vous connecter.',
    password_changed: 'Votre mot de passe a été modifié.',
    email_change_sent: 'Un code à 6 chiffres a été envoyé à la nouvelle adresse e-mail.',
    phone_change_sent: 'Un code à 6 chiffres a été envoyé au nouveau numéro.',
    two_factor_code_sent: 'Un code à 6 chiffres vous a été renvoyé.',
    two_factor_app_required:
      'Saisissez le code de votre application d’authentification pour terminer la connexion.',
    two_factor_recovery_required: 'Saisissez l’un de vos codes de secours pour terminer la connexion.',
    two_factor_unavailable: 'Aucun code ne peut vous être envoyé pour le moment. Réessayez plus tard.',
    two_factor_enrolment_sent:
      'Un code à 6 chiffres vous a été envoyé pour activer la double authentification.',
    two_factor_disabled: 'La double authentification est désactivée.',
    two_factor_required: 'Un code à 6 chiffres vous a été envoyé pour terminer la connexion.',
    logged_out: 'Déconnexion effectuée.',
    logged_out_everywhere: 'Déconnexion effectuée sur tous vos appareils.',
    session_ended: 'Cet appareil est maintenant déconnecté.',
    account_erased: 'Votre compte a été supprimé définitivement.',
  },
  messages: {
    greeting: 'Bonjour,',
    quotes: ['« ', ' »'] satisfies [string, string],
    circumstances: ({ device }: MessageFacts, date: string) =>
      `Date : ${date}.${device ? ` Appareil : ${device}.` : ''}`,
    footer: ({ service }) => `${service} — message automatique, merci de ne pas y répondre.`,
    codeFrame: {
      subject: ({ subject }, { service }) => `${subject} ${service}`,
      above: ({ purpose }, { service }) => [`Voici votre code pour ${purpose} ${service} :`],
      below: (facts) => [lifetime(facts), ignore],
      sms: ({ smsPurpose }, facts, digits) =>
        `${facts.service} : ${digits} est votre code ${smsPurpose}. Valable ${facts.minutes} min. Ne le donnez à personne.`,
    },
    smsNotice: ({ service }, sentence) => `${service} : ${sentence}`,
    codes: {
      confirmation: {
        subject: 'Confirmez votre compte',
        purpose: 'confirmer votre compte',
        smsPurpose: 'de confirmation',
      },
      login_code: {
        subject: 'Votre code de connexion à',
        purpose: 'vous connecter à',
        smsPurpose: 'de connexion',
      },
      two_factor: {
        subject: 'Terminez votre connexion à',
        purpose: 'terminer votre connexion à',
        smsPurpose: 'de double authentification',
      },
      step_up: {
        subject: 'Confirmez une modification de votre compte',
        purpose: 'confirmer une modification de votre compte',
        smsPurpose: 'pour modifier votre compte',
      },
      password_reset: {
        subject: 'Choisissez un nouveau mot de passe sur',
        purpose: 'choisir un nouveau mot de passe sur',
        smsPurpose: 'pour un nouveau mot de passe',
      },
      email_change: {
        subject: 'Confirmez votre adresse e-mail sur',
        purpose: 'confirmer votre nouvelle adresse e-mail sur',
        smsPurpose: 'pour votre nouvelle adresse e-mail',
      },
      phone_change: {
        subject: 'Confirmez votre numéro sur',
        purpose: 'confirmer votre nouveau numéro de téléphone sur',
        smsPurpose: 'pour votre nouveau numéro',
      },
      two_factor_enrolment: {
        subject: 'Activez la double authentification sur',
        purpose: 'activer la double authentification sur',
        smsPurpose: 'pour activer la double authentification',
      },
    },
    notices: {
      account_exists: {
        subject: ({ service }) => `Vous avez déjà un compte ${service}`,
        paragraphs: ({ service }) => [
          `Quelqu'un, sans doute vous, vient de demander un compte ${service} avec cette adresse. Elle en a déjà un : connectez-vous, ou demandez un nouveau mot de passe si vous l'avez oublié.`,
          `Si vous n'êtes pas à l'origine de cette demande, ignorez ce message : rien n'a changé.`,
        ],
        sms: () =>
          `vous avez déjà un compte avec ce numéro. Connectez-vous, ou demandez un nouveau mot de passe.`,
      },
      password_changed: {
        subject: ({ service }) => `Votre mot de passe ${service} a changé`,
        paragraphs: ({ service, removed }) => [
          `Le mot de passe de votre compte ${service} vient de changer.`,
          ...(removed
            ? [`Ajouts des sept derniers jours, retirés avec lui : ${removed.map(nameOf).join(', ')}.`]
            : []),
          `Si ce n'était pas vous, demandez un nouveau mot de passe sans attendre.`,
        ],
        sms: () =>
          `votre mot de passe a changé. Si ce n'était pas vous, demandez-en un nouveau sans attendre.`,
      },
      email_changed: {
        subject: ({ service }) => `L'adresse e-mail de votre compte ${service} a changé`,
        paragraphs: ({ service }) => [`L'adresse e-mail de votre compte ${service} vient de changer.`, alarm],
        sms: () => `l'adresse e-mail de votre compte a changé. ${alarm}`,
      },
      phone_changed: {
        subject: ({ service }) => `Le numéro de votre compte ${service} a changé`,
        paragraphs: ({ service }) => [
          `Le numéro de téléphone de votre compte ${service} vient de changer.`,
          alarm,
        ],
        sms: () => `le numéro de votre compte a changé. ${alarm}`,
      },
      email_removed: {
        subject: ({ service }) => `L'adresse e-mail de votre compte ${service} a été retirée`,
        paragraphs: ({ service }) => [
          `L'adresse e-mail de votre compte ${service} vient d'être retirée. Elle ne permet plus de vous connecter.`,
          alarm,
        ],
        sms: () => `l'adresse e-mail de votre compte a été retirée. ${alarm}`,
      },
      phone_removed: {
        subject: ({ service }) => `Le numéro de votre compte ${service} a été retiré`,
        paragraphs: ({ service }) => [
          `Le numéro de téléphone de votre compte ${service} vient d'être retiré. Il ne permet plus de vous connecter.`,
          alarm,
        ],
        sms: () => `le numéro de votre compte a été retiré. ${alarm}`,
      },
      account_erased: {
        subject: ({ service }) => `Votre compte ${service} a été supprimé`,
        paragraphs: ({ service }) => [
          `Votre compte ${service} vient d'être supprimé, avec tout ce qui lui appartenait. Il ne peut pas être rétabli.`,
        ],
        sms: () => 'votre compte a été supprimé définitivement.',
      },
      contact_claimed: {
        subject: ({ service }) => `Vos coordonnées ont été demandées pour un autre compte ${service}`,
        paragraphs: ({ service }) => [
          `Une personne vient de demander à ajouter cette adresse e-mail ou ce numéro à un autre compte ${service}. Il appartient au vôtre et y reste : rien n'a changé.`,
          `Si c'était vous, modifiez-le d'abord dans ce compte. Sinon, vous pouvez ignorer ce message.`,
        ],
        sms: () => `une personne a voulu ajouter votre numéro à un autre compte. Rien n'a changé.`,
      },
      two_factor_enabled: {
        subject: ({ service }) => `Double authentification activée sur votre compte ${service}`,
        paragraphs: ({ service }) => [
          `La double authentification vient d'être activée sur votre compte ${service}.`,
          alarm,
        ],
        sms: () => `la double authentification de votre compte est maintenant active. ${alarm}`,
      },
      account_unlocked: {
        subject: ({ service }) => `Votre compte ${service} est débloqué`,
        paragraphs: ({ service }) => [
          `Votre compte ${service} vient d'être débloqué par ses administrateurs. Vous pouvez à nouveau vous connecter.`,
        ],
        sms: () =>
          'votre compte a été débloqué par ses administrateurs. Vous pouvez à nouveau vous connecter.',
      },
      two_factor_disabled: {
        subject: ({ service }) => `Double authentification désactivée sur votre compte ${service}`,
        paragraphs: ({ service }) => [
          `La double authentification vient d'être désactivée sur votre compte ${service}.`,
          alarm,
        ],
        sms: () => `la double authentification de votre compte est maintenant inactive. ${alarm}`,
      },
      authenticator_changed: {
        subject: ({ service }) => `Nouvelle application d'authentification pour votre compte ${service}`,
        paragraphs: ({ service }) => [
          `Les codes de connexion de votre compte ${service} viennent maintenant d'une autre application d'authentification, et vos codes de secours ont été renouvelés. Les anciens ne sont plus valables.`,
          alarm,
        ],
        sms: () => `vos codes de connexion viennent d'une autre application. ${alarm}`,
      },
      recovery_code_used: {
        subject: ({ service }) => `Un code de secours de votre compte ${service} a été utilisé`,
        paragraphs: ({ service, left }) => [
          `Un code de secours de votre compte ${service} vient d'être utilisé.${left ? ` Codes restants : ${left}.` : ''}`,
          alarm,
        ],
        sms: ({ left }) =>
          `un code de secours de votre compte a été utilisé.${left ? ` Codes restants : ${left}.` : ''} ${alarm}`,
      },
      recovery_codes_replaced: {
        subject: ({ service }) => `Nouveaux codes de secours pour votre compte ${service}`,
        paragraphs: ({ service }) => [
          `De nouveaux codes de secours viennent d'être créés pour votre compte ${service}. Les anciens ne sont plus valables.`,
          alarm,
        ],
        sms: () => `les codes de secours de votre compte ont été renouvelés. ${alarm}`,
      },
      authenticator_lost: {
        subject: ({ service }) => `Votre application d'authentification n'est plus reconnue par ${service}`,
        paragraphs: ({ service }) => [
          `À la suite d'un changement sur le serveur de ${service}, les codes de votre application d'authentification ne peuvent plus être vérifiés. Connectez-vous avec un code de secours, puis ajoutez de nouveau votre application.`,
          'Si vous n’avez plus de code de secours, un code vous sera envoyé à la connexion.',
        ],
        sms: () =>
          `votre application d'authentification n'est plus reconnue. Connectez-vous avec un code de secours, puis ajoutez-la de nouveau.`,
      },
      second_factor_failed: {
        subject: ({ service }) => `Codes erronés après votre mot de passe sur ${service}`,
        paragraphs: ({ service }) => [
          `Quelqu'un qui connaît votre mot de passe ${service} a saisi plusieurs codes erronés, depuis un appareil que vous n'avez pas encore utilisé.`,
          `Si c'était vous, il n'y a rien à faire. Sinon, changez votre mot de passe sans attendre : la deuxième étape l'a arrêté jusqu'ici.`,
        ],
        sms: () =>
          `des codes erronés ont été saisis après votre mot de passe. Si ce n'était pas vous, changez-le.`,
      },
      refresh_token_reused: {
        subject: ({ service }) => `Un appareil a été déconnecté de votre compte ${service}`,
        paragraphs: ({ service }) => [
          `Une session de votre compte ${service} a été utilisée à deux endroits à la fois. Par prudence, nous l'avons fermée : reconnectez-vous sur cet appareil.`,
          `Si vous ne reconnaissez pas cette activité, changez votre mot de passe.`,
        ],
        sms: () => `une session de votre compte a été fermée par prudence. ${alarm}`,
      },
      identity_linked: {
        subject: ({ service }) => `Nouvelle façon de se connecter à votre compte ${service}`,
        paragraphs: ({ service, provider }) => [
          `Votre compte ${service} peut maintenant être ouvert avec ${provider ? `votre compte ${provider}` : 'un compte extérieur'}.`,
          `Si ce n'était pas vous, retirez cet accès et changez votre mot de passe sans attendre.`,
        ],
        sms: ({ provider }) =>
          `votre compte s'ouvre maintenant aussi avec ${provider ?? 'un compte extérieur'}. ${alarm}`,
      },
      passkey_added: {
        subject: ({ service }) => `Une clé d’accès a été ajoutée à votre compte ${service}`,
        paragraphs: ({ service, passkey }) => [
          `Votre compte ${service} peut maintenant être ouvert avec une nouvelle clé d’accès${passkey ? `, ${passkey}` : ''}.`,
          'Si ce n’était pas vous, retirez-la et changez votre mot de passe sans attendre.',
        ],
        sms: ({ passkey }) =>
          `une cle d'acces${passkey ? ` (${passkey})` : ''} a été ajoutée à votre compte. ${alarm}`,
      },
      passkey_removed: {
        subject: ({ service }) => `Une clé d’accès a été retirée de votre compte ${service}`,
        paragraphs: ({ service, passkey }) => [
          `La clé d’accès${passkey ? ` ${passkey}` : ''} n’ouvre plus votre compte ${service}.`,
          alarm,
        ],
        sms: ({ passkey }) =>
          `une cle d'acces${passkey ? ` (${passkey})` : ''} a été retirée de votre compte. ${alarm}`,
      },
      passkey_copied: {
        subject: ({ service }) => `Une clé d’accès de votre compte ${service} a peut-être été copiée`,
        paragraphs: ({ service, passkey }) => [
          `Nous avons refusé une connexion à votre compte ${service} : la clé d’accès${passkey ? ` ${passkey}` : ''} a été utilisée d’une façon que seule une copie explique.`,
          'Retirez cette clé d’accès et ajoutez-en une nouvelle.',
        ],
        sms: ({ passkey }) =>
          `connexion refusée : la cle d'acces${passkey ? ` ${passkey}` : ''} a peut-etre été copiée. Retirez-la.`,
      },
      identity_unlinked: {
        subject: ({ service }) => `Une façon de se connecter à votre compte ${service} a été retirée`,
        paragraphs: ({ service, provider }) => [
          `Votre compte ${service} ne peut plus être ouvert avec ${provider ? `votre compte ${provider}` : 'un compte extérieur'}.`,
          alarm,
        ],
        sms: ({ provider }) =>
          `votre compte ne s'ouvre plus avec ${provider ?? 'un compte extérieur'}. ${alarm}`,
      },
    },
  } satisfies MessageTexts<string, string>,
  mailbox: {
    title: 'Boîte aux lettres',
    about: 'Rien ne part : les messages arrivent ici.',
    empty: 'Aucun message ici.',
    copy: 'Copier',
    copied: 'Copié',
    email: 'E-mail',
    sms: 'SMS',
    all: 'Tous les messages',
    channel: 'Type de message',
    notice: 'Avis',
    filter: 'Filtrer par destinataire ou par texte',
    clear: 'Vider',
    text_part: 'Texte',
    html_part: 'Version HTML',
    demonstration: 'Démonstration',
    documentation: 'Documentation de l’API',
  },
  purposes: {
    confirmation: 'Confirmation du compte',
    login_code: 'Connexion par code',
    two_factor: 'Seconde étape',
    step_up: 'Confirmation d’une action',
    password_reset: 'Nouveau mot de passe',
    email_change: 'Nouvelle adresse e-mail',
    phone_change: 'Nouveau numéro',
    two_factor_enrolment: 'Activation de la double authentification',
  },
  demonstration: {
    passkey_sign_in: 'Se connecter avec une clé d’accès',
    passkeys: 'Clés d’accès',
    add_passkey: 'Ajouter une clé d’accès',
    remove: 'Retirer',
    no_passkey: 'Aucune pour le moment. Avec une clé d’accès, on se connecte sans mot de passe.',
    mailbox: 'Boîte aux lettres',
    documentation: 'Documentation de l’API',
    requests: 'Requêtes de cette page',
    requests_hint: 'Cette page n’utilise que l’interface publique. Les secrets sont masqués.',
    no_connection: 'Le service ne répond pas. Réessayez dans un instant.',
    sign_in: 'Se connecter',
    sign_in_hint: 'Les codes arrivent dans la boîte aux lettres.',
    identifier: 'E-mail ou téléphone',
    password: 'Mot de passe',
    new_password: 'Nouveau mot de passe',
    email: 'E-mail',
    phone: 'Téléphone',
    create_account: 'Créer un compte',
    create_hint: 'Une adresse e-mail, un numéro, ou les deux.',
    have_account: 'J’ai déjà un compte',
    code_instead: 'Se connecter par code',
    forgot: 'Mot de passe oublié',
    confirm: 'Confirmer le compte',
    code: 'Code à 6 chiffres',
    code_or_recovery: 'Code, ou code de secours',
    code_sent_to: 'Un code a été envoyé à {to}.',
    if_account: 'Si {to} a un compte, un code est en route.',
    send_code: 'Envoyer un code',
    send_again: 'Renvoyer le code',
    set_password: 'Enregistrer le mot de passe',
    back: 'Retour',
    second_step: 'Seconde étape',
    open_app: 'Ouvrez votre application d’authentification et saisissez le code.',
    recovery_only: 'Saisissez un code de secours.',
    signed_in: 'Vous êtes connecté',
    verified: 'Vérifié',
    two_factors: 'Double authentification',
    yes: 'Oui',
    no: 'Non',
    sign_out: 'Se déconnecter',
    sessions: 'Sessions',
    this_session: 'Cette session',
    unnamed_device: 'Appareil sans nom',
    this_browser: 'Ce navigateur',
    end: 'Terminer',
    add_app: 'Ajouter une application d’authentification',
    go_on: 'Continuer',
    scan: 'Scannez ce QR code avec votre application, puis saisissez le code qu’elle affiche.',
    or_type: 'Ou saisissez cette clé :',
    recovery_codes: 'Codes de secours',
    recovery_hint: 'Gardez-les en lieu sûr : chacun remplace un code une seule fois.',
    saved: 'Je les ai gardés',
  },
}
