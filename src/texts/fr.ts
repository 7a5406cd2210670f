/**
 * French: every text that a client or a person gets to read. The rows of this file are the ones that each other
 * language must have.
 */
import type { ErrorCode, FieldErrorCode, WeakPasswordReason } from './errors.ts'
import { pagesFr } from './pages/fr.ts'

const alarm = `Si ce n'était pas vous, changez votre mot de passe sans attendre.`
/** The app of somebody else stays after a reset. */
const strangeApp =
  "[Si ce n'était pas vous, réinitialisez votre mot de passe sans attendre et prévenez les administrateurs : {support}|Si ce n'était pas vous, réinitialisez votre mot de passe sans attendre.]"
const restore = "Si ce n'était pas vous, annulez ce changement sous sept jours : {link}"
const smsRestore = "Si ce n'était pas vous, annulez sous 7 jours : {link}"

export const fr = {
  errors: {
    malformed_json: 'Le corps de la requête n’est pas un document JSON valide.',
    invalid_request: 'Cette requête est incomplète ou n’est pas valide.',
    invalid_grant: 'Ce code ou ce jeton n’est pas valide ou a expiré.',
    unsupported_grant_type: 'Ce type d’autorisation n’est pas proposé.',
    invalid_client: 'Cette application n’est pas connue ici.',
    invalid_credentials: 'Identifiant ou mot de passe incorrect.',
    invalid_token: 'Le jeton présenté n’est pas valide.',
    token_expired: 'Le jeton présenté a expiré.',
    login_expired: 'Cette connexion a expiré. Veuillez recommencer.',
    unknown_passkey: 'Cette clé d’accès n’est plus connue ici.',
    account_unconfirmed: 'Votre compte n’est pas encore confirmé.',
    account_locked: 'Votre compte est verrouillé.',
    account_incomplete:
      'Votre compte n’est pas encore complet : la connexion n’est pas possible. Adressez-vous à l’exploitant de ce service.',
    test_identity: 'Ce compte sert aux essais : seule sa langue peut être changée, et il peut être supprimé.',
    two_factor_required: 'Confirmez cette opération avec votre second facteur.',
    reauthentication_required:
      'Reconnectez-vous d’abord : votre dernière connexion est trop ancienne pour cette opération.',
    passkey_too_new:
      'Cette clé d’accès vient d’être ajoutée. Confirmez avec votre mot de passe ou un autre facteur, ou utilisez-la demain.',
    insufficient_scope: 'Vous n’avez pas le droit de faire cela.',
    registration_closed: 'Sans invitation, aucun compte ne peut être créé ici.',
    invalid_invitation: 'Cette invitation n’est pas valide, a expiré ou est épuisée.',
    domain_not_allowed: 'Un compte demande ici une adresse e-mail d’un autre domaine.',
    registration_refused:
      'Ce compte n’a pas pu être ouvert. Veuillez vous adresser aux responsables de ce service.',
    route_not_found: 'Cette adresse n’existe pas.',
    session_not_found: 'Cette session n’existe pas.',
    device_not_found: 'Cet appareil de confiance n’existe pas.',
    account_not_found: 'Ce compte n’existe pas.',
    message_not_found: 'Ce message n’existe pas.',
    token_not_found: 'Ce jeton n’existe pas.',
    administrator_not_found: 'Ce compte n’est pas un administrateur.',
    identity_not_found: 'Cette identité n’est pas liée à votre compte.',
    contact_not_found: 'Votre compte n’a pas ce contact.',
    invitation_not_found: 'Cette invitation n’existe pas.',
    prefix_not_found: 'Ce préfixe de numéros est ouvert.',
    webhook_not_found: 'Ce webhook n’existe pas.',
    application_not_found: 'Cette application n’existe pas.',
    provider_not_found: 'Ce fournisseur d’identité n’est pas proposé.',
    passkey_not_found: 'Cette clé d’accès n’existe pas.',
    method_not_allowed: 'Cette méthode n’est pas permise à cette adresse.',
    identifier_taken: 'Cet identifiant est déjà utilisé par un autre compte.',
    identity_taken: 'Cette identité est déjà liée à un autre compte.',
    username_taken: 'Ce nom d’utilisateur appartient à quelqu’un d’autre, ou lui a appartenu.',
    account_exists:
      'Vous avez déjà un compte avec cette adresse e-mail : connectez-vous à ce compte, puis liez ce fournisseur.',
    last_sign_in_method: 'C’est votre dernier moyen de connexion : il ne peut pas être retiré.',
    no_other_factor:
      'Le second facteur d’un compte sans mot de passe est une application d’authentification ou une clé d’accès, jamais un code envoyé. Ajoutez-en une d’abord, ou choisissez un mot de passe.',
    passkey_limit: 'Votre compte a autant de clés d’accès que possible : retirez-en une d’abord.',
    identity_limit: 'Votre compte est lié à autant d’autres comptes que possible : déliez-en un d’abord.',
    group_limit: 'Votre compte ferait partie de trop de groupes.',
    two_factor_already_enabled: 'La double authentification est déjà activée.',
    two_factor_not_enabled: 'La double authentification n’est pas activée.',
    no_verified_contact: 'Votre compte n’a ni adresse e-mail ni numéro de téléphone vérifié.',
    password_not_set: 'Votre compte n’a pas de mot de passe.',
    password_already_set: 'Ce compte est confirmé et a un mot de passe : il n’a pas besoin d’invitation.',
    use_another_method: 'Aucun code n’est envoyé à ce compte. Utilisez une autre méthode.',
    not_resendable: 'Ce message ne peut pas être renvoyé.',
    body_too_large: 'Le corps de la requête est trop volumineux.',
    unsupported_media_type: 'Le corps de la requête doit être envoyé en {type}.',
    validation_failed: 'Certains champs ne sont pas valides.',
    claims_too_large: 'Les informations du jeton d’accès seraient trop volumineuses.',
    invalid_code: 'Ce code n’est pas valide, a expiré ou a déjà servi.',
    invalid_passkey: 'Cette clé d’accès n’a pas pu être vérifiée. Veuillez réessayer.',
    invalid_sign_in_state:
      'Cette connexion n’a pas été commencée dans ce navigateur, ou l’a été il y a trop longtemps. Veuillez recommencer.',
    country_not_allowed: 'Nous n’envoyons pas de SMS vers ce pays.',
    channel_not_available: 'Nous ne pouvons pas envoyer de message à ce type d’adresse ou de numéro.',
    invalid_redirect_uri: 'Cette adresse de retour n’est pas autorisée.',
    idempotency_key_reused: 'Cette Idempotency-Key a déjà servi pour une autre requête.',
    terms_required: 'Veuillez d’abord accepter les conditions d’utilisation.',
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
    not_allowed: 'Cette valeur ne peut pas être modifiée ici.',
    reserved: 'Ce nom est réservé.',
    unknown_role: 'Aucun rôle ne porte ce nom ; le plus proche est {nearest}.',
    unknown_field: 'Ce nom n’est pas connu ici.',
  } satisfies Record<FieldErrorCode, string>,
  weak_password: {
    too_short: 'Ce mot de passe est trop court : il faut au moins {minimum} caractères.',
    common: 'Ce mot de passe est trop répandu : il serait vite deviné.',
    is_identifier: 'Le mot de passe ne doit pas reprendre votre identifiant.',
    is_service_name: 'Le mot de passe ne doit pas se réduire au nom de ce service.',
  } satisfies Record<WeakPasswordReason, string>,
  sentences: {
    number_between: 'Un nombre entier de {minimum} à {maximum} est attendu.',
    nearest_name: 'Le plus proche est {nearest}.',
    factor_stays:
      'C’est le seul second facteur d’un compte sans mot de passe : il ne resterait que des codes de secours. Pour qui l’a perdu, créez un code d’accès temporaire (access-code) avec remove_factors.',
    way_in_stays:
      'C’est le dernier accès à ce compte. Pour qui l’a perdu, créez un code d’accès temporaire (access-code) avec remove_factors.',
    passkey_removed: 'La clé d’accès a été retirée.',
    code_sent_by_email: 'Un code à 6 chiffres vous a été envoyé par e-mail.',
    code_sent_by_sms: 'Un code à 6 chiffres vous a été envoyé par SMS.',
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
    two_factor_passkey_required: 'Utilisez votre clé d’accès pour terminer la connexion.',
    two_factor_recovery_required: 'Saisissez l’un de vos codes de secours pour terminer la connexion.',
    two_factor_unavailable: 'Aucun code ne peut vous être envoyé pour le moment. Réessayez plus tard.',
    two_factor_enrolment_sent:
      'Un code à 6 chiffres vous a été envoyé pour activer la double authentification.',
    two_factor_disabled: 'La double authentification est désactivée.',
    two_factor_required: 'Un code à 6 chiffres vous a été envoyé pour terminer la connexion.',
    logged_out: 'Déconnexion effectuée.',
    logged_out_everywhere: 'Déconnexion effectuée sur tous vos appareils.',
    session_ended: 'Cet appareil est maintenant déconnecté.',
    device_forgotten: 'Cet appareil n’est plus de confiance.',
    removal_asked: 'La double authentification de votre compte va être désactivée.',
    removal_stop: 'La garder.',
    removal_stopped: 'La double authentification reste active.',
    removal_gone: 'Il n’y a plus rien à arrêter ici.',
    account_erased: 'Votre compte a été supprimé définitivement.',
  },
  messages: {
    greeting: 'Bonjour,',
    quotes: ['« ', ' »'],
    circumstances: 'Date : {date}.[ Appareil : {device}.][ Adresse IP : {address}.]',
    footer: '{service} — message automatique, merci de ne pas y répondre.',
    reasons: {
      entered:
        "[Envoyé à {recipient}, car|Envoyé car] quelqu'un a saisi cette adresse sur {host}.[ Questions : {support}]",
      owned:
        "[Envoyé à {recipient}, car|Envoyé car] c'est l'adresse de votre compte sur {host}.[ Questions : {support}]",
    },
    review: 'Vérifier votre compte',
    reset: 'Choisir un nouveau mot de passe',
    actions: {
      undo: 'Annuler ce changement',
      keep: 'La garder activée',
      accept: "Accepter l'invitation",
      administer: "Ouvrir l'administration",
    },
    below_code: [
      'Valable {duration}, une seule fois',
      "Ne communiquez ce code à personne. Si vous n'êtes pas à l'origine de cette demande, ignorez ce message.",
    ],
    unasked: {
      two_factor:
        "Ne communiquez ce code à personne. Si vous n'êtes pas en train de vous connecter, changez votre mot de passe sans attendre : quelqu'un d'autre le connaît peut-être.",
      step_up:
        "Ne communiquez ce code à personne. Si ce n'est pas vous, déconnectez tous les appareils et changez votre mot de passe : quelqu'un d'autre est peut-être connecté.",
      recovery:
        "Ne communiquez ce code à personne. Si vous ne l'avez pas demandé, prévenez les administrateurs : quelqu'un les a peut-être trompés.",
      invitation:
        "Ne communiquez ce code à personne. Si vous ne connaissez pas {service}, il n'y a rien à faire.",
    },
    duration: { one: '{minutes} minute', other: '{minutes} minutes' },
    removed: {
      email: "l'adresse e-mail",
      phone: 'le numéro de téléphone',
      passkey: "une clé d'accès",
      identity: 'la connexion par {provider}',
    },
    codes: {
      confirmation: {
        subject: 'Confirmez votre compte {service}',
        email: ['Saisissez ce code là où vous avez créé votre compte :'],
        sms: '{service} : {code} est votre code de confirmation. Valable {minutes} min. Ne le donnez à personne.',
      },
      login_code: {
        subject: 'Votre code de connexion à {service}',
        email: ['Saisissez ce code là où vous vous connectez :'],
        sms: '{service} : {code} est votre code de connexion. Valable {minutes} min. Ne le donnez à personne.',
      },
      two_factor: {
        subject: 'Votre code pour terminer votre connexion à {service}',
        email: ['Saisissez ce code là où vous vous connectez :'],
        sms: '{service} : {code} est votre code pour terminer votre connexion. Valable {minutes} min. Ne le donnez à personne.',
      },
      step_up: {
        subject: 'Confirmez une modification de votre compte {service}',
        email: ['Saisissez ce code là où vous faites cette modification :'],
        sms: '{service} : {code} est votre code pour confirmer une modification. Valable {minutes} min. Ne le donnez à personne.',
      },
      password_reset: {
        subject: 'Votre code pour choisir un nouveau mot de passe sur {service}',
        email: ["Saisissez ce code là où vous l'avez demandé, avec votre nouveau mot de passe :"],
        sms: '{service} : {code} est votre code pour un nouveau mot de passe. Valable {minutes} min. Ne le donnez à personne.',
      },
      email_change: {
        subject: 'Confirmez votre nouvelle adresse e-mail sur {service}',
        email: ['Saisissez ce code là où vous avez indiqué cette adresse :'],
        sms: '{service} : {code} est votre code pour votre nouvelle adresse e-mail. Valable {minutes} min. Ne le donnez à personne.',
      },
      phone_change: {
        subject: 'Confirmez votre nouveau numéro sur {service}',
        email: ['Saisissez ce code là où vous avez indiqué ce numéro :'],
        sms: '{service} : {code} est votre code pour votre nouveau numéro. Valable {minutes} min. Ne le donnez à personne.',
      },
      two_factor_enrolment: {
        subject: 'Activez la double authentification sur {service}',
        email: ["Saisissez ce code là où vous l'activez :"],
        sms: '{service} : {code} est votre code pour activer la double authentification. Valable {minutes} min. Ne le donnez à personne.',
      },
      recovery: {
        subject: "Votre code d'accès temporaire pour {service}",
        email: ['Ce code vous permet de choisir un nouveau mot de passe :'],
        sms: "{service} : {code} est votre code d'accès temporaire. Valable {duration}. Ne le donnez à personne.",
      },
      invitation: {
        subject: 'Votre invitation sur {service}',
        email: ['Ce code vous permet de choisir le mot de passe de votre nouveau compte :'],
        sms: "{service} : {code} est votre code d'invitation. Valable {duration}. Ne le donnez à personne.",
      },
    },
    notices: {
      account_exists: {
        subject: 'Vous avez déjà un compte {service}',
        email: [
          "Quelqu'un, sans doute vous, vient d'essayer d'en créer un autre avec cette adresse. Si ce n'était pas vous, il n'y a rien à faire : rien n'a changé.",
          'Connectez-vous, ou choisissez un nouveau mot de passe si vous avez oublié le vôtre.',
        ],
        sms: '{service} : vous avez déjà un compte avec ce numéro. Connectez-vous, ou choisissez un nouveau mot de passe.',
      },
      password_changed: {
        subject: 'Votre mot de passe {service} a changé',
        email: [
          "L'ancien ne fonctionne plus.",
          '[Ces ajouts des sept derniers jours ont été retirés : {removed}.]',
          "Si ce n'était pas vous, réinitialisez votre mot de passe sans attendre.",
        ],
        sms: "{service} : votre mot de passe a changé. Si ce n'était pas vous, réinitialisez-le sans attendre.",
      },
      email_changed: {
        subject: "L'adresse e-mail de votre compte {service} a changé",
        email: ['Vous vous connectez désormais avec la nouvelle.', `[${restore}|${alarm}]`],
        sms: `{service} : l'adresse e-mail de votre compte a changé. [${smsRestore}|${alarm}]`,
      },
      phone_changed: {
        subject: 'Le numéro de votre compte {service} a changé',
        email: ['Vous vous connectez désormais avec le nouveau.', `[${restore}|${alarm}]`],
        sms: `{service} : le numéro de votre compte a changé. [${smsRestore}|${alarm}]`,
      },
      email_removed: {
        subject: "L'adresse e-mail de votre compte {service} a été retirée",
        email: ['Elle ne permet plus de vous connecter.', `[${restore}|${alarm}]`],
        sms: `{service} : l'adresse e-mail de votre compte a été retirée. [${smsRestore}|${alarm}]`,
      },
      phone_removed: {
        subject: 'Le numéro de votre compte {service} a été retiré',
        email: ['Il ne permet plus de vous connecter.', `[${restore}|${alarm}]`],
        sms: `{service} : le numéro de votre compte a été retiré. [${smsRestore}|${alarm}]`,
      },
      account_erased: {
        subject: 'Votre compte {service} a été supprimé',
        email: [
          'Tout ce qui lui appartenait a disparu et ne peut pas être rétabli.',
          "[Si ce n'était pas vous, prévenez les administrateurs de {service} : {support}]",
        ],
        sms: '{service} : votre compte a été supprimé définitivement.',
      },
      contact_claimed: {
        subject: "Quelqu'un a voulu ajouter vos coordonnées à un autre compte {service}",
        email: [
          'Cette adresse e-mail appartient à votre compte et y reste.',
          "Si c'était vous, retirez-la d'abord de ce compte. Sinon, il n'y a rien à faire.",
        ],
        sms: "{service} : quelqu'un a voulu ajouter votre numéro à un autre compte. Il reste dans votre compte : il n'y a rien à faire.",
      },
      two_factor_enabled: {
        subject: 'Double authentification activée sur votre compte {service}',
        email: ['La connexion demande maintenant une seconde étape.', strangeApp],
        sms: "{service} : la double authentification de votre compte est maintenant active. Si ce n'était pas vous, réinitialisez votre mot de passe.",
      },
      contact_restored: {
        subject: 'Un changement de contact a été annulé sur votre compte {service}',
        email: [
          "L'ancienne adresse e-mail ou l'ancien numéro est rétabli. Tous les appareils ont été déconnectés et le mot de passe ne fonctionne plus : réinitialisez-le pour vous connecter.",
          '[Retiré en même temps : {removed}.]',
          "[Si vous n'en êtes pas à l'origine, prévenez les administrateurs de {service} : {support}|Si vous n'en êtes pas à l'origine, réinitialisez votre mot de passe sans attendre.]",
        ],
        sms: "{service} : l'ancien contact de votre compte est rétabli. Tout est déconnecté. Réinitialisez votre mot de passe pour vous connecter.",
      },
      invited: {
        subject: 'Votre invitation à {service}',
        email: [
          "Elle vous permet d'ouvrir un compte.",
          "Accepter l'invitation : {link}",
          "Si vous ne connaissez pas {service}, il n'y a rien à faire.",
        ],
        sms: '{service} : vous etes invite a ouvrir un compte : {link}',
      },
      account_unlocked: {
        subject: 'Votre compte {service} est débloqué',
        email: ['Vous pouvez de nouveau vous connecter.'],
        sms: '{service} : un administrateur a débloqué votre compte. Vous pouvez de nouveau vous connecter.',
      },
      recovery_created: {
        subject: "Un code d'accès temporaire à votre compte {service} a été créé",
        email: [
          "Un administrateur l'a créé. Quiconque l'a peut choisir un nouveau mot de passe.",
          "[Si vous ne l'avez pas demandé, prévenez les administrateurs sans attendre : {support}|Si vous ne l'avez pas demandé, quelqu'un a peut-être trompé les administrateurs. Nous vous écrirons quand un nouveau mot de passe sera choisi : si ce n'est pas par vous, réinitialisez-le sans attendre.]",
        ],
        sms: "{service} : un administrateur a créé un code d'accès temporaire à votre compte. [Pas votre demande ? {support}|Mot de passe changé sans vous ? Réinitialisez-le.]",
      },
      two_factor_removal: {
        subject: 'La double authentification de votre compte {service} va être désactivée',
        email: [
          'Ce sera dans les 24 heures : on a dit à un administrateur que vous avez perdu votre second facteur.',
          "Si vous ne l'avez pas demandé, gardez-la : {link}",
        ],
        sms: '{service} : la double authentification de votre compte sera désactivée sous 24 h. Pas votre demande ? Gardez-la : {link}',
      },
      two_factor_kept: {
        subject: 'La double authentification de votre compte {service} reste active',
        email: ["Elle allait être désactivée, mais votre second facteur vient d'être utilisé.", alarm],
        sms: `{service} : la double authentification reste active, car votre second facteur a servi. ${alarm}`,
      },
      account_exported: {
        subject: 'Vos données {service} ont été téléchargées',
        email: [
          'Une personne connectée à votre compte a copié tout ce qui est conservé à votre sujet.',
          alarm,
        ],
        sms: `{service} : une copie de vos données a été téléchargée. ${alarm}`,
      },
      new_device: {
        subject: 'Nouvelle connexion à votre compte {service}',
        email: [
          "Elle vient d'un nouvel appareil ou d'un nouveau lieu.",
          "Si c'était vous, il n'y a rien à faire. Sinon, changez votre mot de passe sans attendre. La seconde étape sera alors de nouveau demandée sur tous les appareils.",
        ],
        sms: `{service} : connexion à votre compte sur un nouvel appareil ou depuis un nouveau lieu. ${alarm}`,
      },
      operator_prefix_closed: {
        subject: 'Les SMS aux numéros en {about} sont suspendus sur {service}',
        email: [
          "Presque aucun code envoyé à ces numéros n'a été saisi, ce qui ressemble à une fraude. Pendant un jour, les personnes sans compte n'y reçoivent aucun SMS.",
        ],
        sms: '{service} : pas de SMS aux numéros en {about} pendant un jour pour les personnes sans compte.',
      },
      operator_wrong_codes: {
        subject: 'Beaucoup de codes erronés sur {service}',
        email: ["Ils ont été saisis en une minute. Quelqu'un essaie peut-être d'en deviner."],
        sms: "{service} : beaucoup de codes erronés en une minute. Quelqu'un essaie peut-etre d'en deviner.",
      },
      operator_pool_dry: {
        subject: 'Un budget de messages est épuisé sur {service}',
        email: [
          "C'est le budget {about}. Jusqu'à ce qu'il se reconstitue, les messages qui en dépendent attendent ou sont refusés. Si vous n'en attendiez pas autant, quelqu'un les provoque peut-être exprès.",
        ],
        sms: '{service} : le budget de messages {about} est épuisé.',
      },
      operator_gateway_suspended: {
        subject: "Les codes confiés à {about} n'arrivent pas sur {service}",
        email: [
          "Trop peu d'entre eux ont été saisis. Pour l'instant, cette passerelle ne sert que si les autres échouent.",
        ],
        sms: "{service} : les codes envoyés par la passerelle {about} n'arrivent pas.",
      },
      operator_removal_stopped: {
        subject: 'Un titulaire a gardé la double authentification sur {service}',
        email: [
          "Votre assistance avait demandé de la désactiver. Quelqu'un l'a peut-être trompée : voyez les événements de type undo.used.",
        ],
        sms: "{service} : un titulaire a gardé la double authentification que l'assistance allait désactiver.",
      },
      operator_access_granted: {
        subject: 'Un nouvel accès à l’administration de {service}',
        email: [
          'Quelqu’un est devenu administrateur ou a reçu plus de droits, ou un jeton d’administration a été créé. Si ce n’est aucun de vous, voyez les événements de types administrator.added, administrator.role_changed et token.created, et retirez cet accès.',
        ],
        sms: "{service} : un nouvel accès à l'administration a été créé.",
      },
      operator_accounts_exported: {
        subject: 'Les comptes de {service} ont été exportés dans un fichier',
        email: [
          'Quelqu’un qui peut lancer des commandes sur sa machine l’a fait. Le fichier contient les empreintes des mots de passe et les secrets des applications d’authentification. Si ce n’est aucun de vous, voyez les événements de type accounts.exported.',
        ],
        sms: '{service} : les comptes ont été exportés dans un fichier.',
      },
      operator_webhook_away: {
        subject: '{about} ne prend plus les événements de {service} depuis une heure',
        email: [
          'Rien n’est perdu tant que les événements sont conservés : {service} réessaie toutes les 15 secondes. « poterne webhooks try {about} » dit ce qui ne va pas.',
        ],
        sms: '{service} : le webhook {about} ne répond plus depuis une heure.',
      },
      operator_webhook_given_up: {
        subject: 'Un événement pour {about} a été abandonné par {service}',
        email: [
          'Ce webhook l’a refusé pendant quatre jours. « poterne webhooks waiting {about} » dit lequel, et « poterne webhooks retry {about} » l’envoie de nouveau.',
        ],
        sms: '{service} : un evenement pour le webhook {about} est perdu.',
      },
      operator_claim_missing: {
        subject: 'Une information manque dans les jetons d’accès de {service}',
        email: [
          'Au moins un compte n’a pas l’information {about}, ou toutes ensemble sont trop volumineuses. Là où elle est exigée, ce compte ne peut pas se connecter. Le journal et poterne doctor nomment les comptes.',
        ],
        sms: '{service} : {about} manque dans des jetons.',
      },
      two_factor_disabled: {
        subject: 'Double authentification désactivée sur votre compte {service}',
        email: ['La connexion ne demande plus de seconde étape.', alarm],
        sms: `{service} : la double authentification de votre compte est maintenant inactive. ${alarm}`,
      },
      authenticator_changed: {
        subject: "Votre compte {service} a une nouvelle application d'authentification",
        email: [
          "C'est elle qui donne maintenant vos codes de connexion. Vos codes de secours ont été renouvelés : les anciens ne sont plus valables.",
          strangeApp,
        ],
        sms: "{service} : vos codes de connexion viennent d'une autre application. Si ce n'était pas vous, réinitialisez votre mot de passe.",
      },
      recovery_code_used: {
        subject: 'Un code de secours de votre compte {service} a été utilisé',
        email: ["Il n'est plus valable.[ Il en reste {left}.]", alarm],
        sms: `{service} : un code de secours de votre compte a été utilisé. [Il en reste {left}. ]${alarm}`,
      },
      recovery_codes_replaced: {
        subject: 'Nouveaux codes de secours pour votre compte {service}',
        email: ['Les anciens ne sont plus valables.', alarm],
        sms: `{service} : les codes de secours de votre compte ont été renouvelés. ${alarm}`,
      },
      authenticator_lost: {
        subject: '{service} ne peut plus vérifier les codes de votre application',
        email: [
          "Cela vient d'un changement sur son serveur. Connectez-vous avec un code de secours, puis ajoutez de nouveau l'application.",
          "S'il ne vous reste aucun code de secours, nous vous enverrons un code à la connexion.",
        ],
        sms: '{service} : nous ne pouvons plus vérifier les codes de votre application. Utilisez un code de secours, puis ajoutez-la de nouveau.',
      },
      second_factor_failed: {
        subject: 'Codes erronés après votre mot de passe sur {service}',
        email: [
          "Quelqu'un qui connaît votre mot de passe les a saisis sur un appareil que vous n'avez pas encore utilisé.",
          "Si c'était vous, il n'y a rien à faire. Sinon, changez votre mot de passe sans attendre. Le second facteur l'a arrêté jusqu'ici.",
        ],
        sms: `{service} : quelqu'un qui a votre mot de passe a saisi des codes erronés. ${alarm}`,
      },
      refresh_token_reused: {
        subject: 'Un appareil a été déconnecté de votre compte {service}',
        email: [
          'Sa session a été utilisée à deux endroits à la fois et a peut-être été volée : reconnectez-vous sur cet appareil.',
          "Si vous n'y reconnaissez rien, changez votre mot de passe sans attendre.",
        ],
        sms: `{service} : une session, utilisée à deux endroits, a été fermée. ${alarm}`,
      },
      identity_linked: {
        subject: 'Nouvelle façon de se connecter à votre compte {service}',
        email: [
          'Vous pouvez maintenant vous connecter avec [votre compte {provider}|un compte extérieur].',
          "Si ce n'était pas vous, retirez cet accès et changez votre mot de passe sans attendre.",
        ],
        sms: `{service} : vous pouvez maintenant vous connecter avec [{provider}|un compte extérieur]. ${alarm}`,
      },
      passkey_added: {
        subject: 'Une clé d’accès a été ajoutée à votre compte {service}',
        email: [
          'Vous pouvez maintenant vous connecter avec [{passkey}|elle].',
          "Si ce n'était pas vous, retirez-la et changez votre mot de passe sans attendre.",
        ],
        sms: `{service} : une clé d'accès a été ajoutée à votre compte. ${alarm}`,
      },
      passkey_removed: {
        subject: 'Une clé d’accès a été retirée de votre compte {service}',
        email: ['Vous ne pouvez plus vous connecter avec [{passkey}|elle].', alarm],
        sms: `{service} : une clé d'accès a été retirée de votre compte. ${alarm}`,
      },
      passkey_copied: {
        subject: 'Une clé d’accès de votre compte {service} a peut-être été copiée',
        email: [
          'Nous venons de refuser une connexion qui semblait utiliser une copie de [{passkey}|celle-ci].',
          "Retirez cette clé d'accès et ajoutez-en une nouvelle.",
        ],
        sms: "{service} : connexion refusée, car une clé d'accès semble avoir été copiée. Retirez-la et ajoutez-en une autre.",
      },
      identity_unlinked: {
        subject: 'Une façon de se connecter à votre compte {service} a été retirée',
        email: [
          'Vous ne pouvez plus vous connecter avec [votre compte {provider}|un compte extérieur].',
          alarm,
        ],
        sms: `{service} : vous ne pouvez plus vous connecter avec [{provider}|un compte extérieur]. ${alarm}`,
      },
    },
  },
  undo: {
    title: 'Rétablir votre contact',
    about:
      '{contact} ne fait plus partie de votre compte {service}. Si vous n’êtes pas à l’origine de ce changement, annulez-le ici.',
    effects:
      'Toutes les sessions seront fermées, ce qui a été ajouté depuis sera retiré, et le mot de passe ne fonctionnera plus. La double authentification restera comme avant.',
    button: 'Rétablir',
    done_title: 'Votre contact est rétabli',
    done: '{contact} fait de nouveau partie de votre compte {service}. Toutes les sessions ont été fermées.',
    next: 'Pour vous connecter, demandez un nouveau mot de passe : un code sera envoyé à {contact}.',
    invalid_title: 'Ce lien ne fonctionne plus',
    invalid: 'Il a déjà servi, il date de plus de sept jours, ou il est incomplet.',
    taken_title: 'Rien n’a été changé',
    taken:
      '{contact} appartient désormais à un autre compte {service}.[ Prévenez ses administrateurs : {support}]',
    refused_title: 'Veuillez patienter',
  },
  mailbox: {
    messages: 'Messages',
    is_new: 'Nouveau',
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
    documentation: 'Documentation de l’API',
    administration: 'Administration',
    closed: "Ouvrez l'adresse que poterne a affichée à son démarrage : les codes sont derrière.",
  },
  start: {
    to_pages: 'Ce que voient les personnes : inscription, connexion et compte.',
    to_mailbox: 'Chaque message qui serait parti, avec son code.',
    to_documentation: 'Chaque opération de l’interface, à essayer d’ici.',
    to_administration: 'La page des propriétaires et du support.',
    people: 'Des personnes pour essayer',
    nobody: 'Personne pour l’instant : démarrez avec `--seed`, ou inscrivez-vous.',
    about_plain: 'Se connecte simplement.',
    about_authenticator_app: 'Utilise une application d’authentification.',
    about_locked: 'Son compte a été verrouillé par un administrateur.',
    about_unconfirmed: 'N’a pas encore confirmé son compte : le code est dans la boîte aux lettres.',
    about_from_file: 'De votre fichier.',
    owner: 'Propriétaire de la page d’administration.',
    password: 'Mot de passe',
    app_code: 'Code de l’application, maintenant',
    sign_in_as: 'Se connecter en tant que {name}',
    application: 'Pour votre application',
    no_application:
      'Pour une connexion par redirection, écrivez dans config.toml, dans le dossier où poterne a été démarré, puis redémarrez-le :',
  },
  purposes: {
    confirmation: 'Confirmation du compte',
    login_code: 'Code de connexion',
    two_factor: 'Double authentification',
    step_up: 'Confirmation d’une modification',
    password_reset: 'Nouveau mot de passe',
    email_change: 'Nouvelle adresse e-mail',
    phone_change: 'Nouveau numéro',
    two_factor_enrolment: 'Activation de la double authentification',
    recovery: 'Code d’accès temporaire',
    invitation: 'Invitation',
  },
  pages: pagesFr,
}
