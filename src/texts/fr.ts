/** French: the sentences of every error and every success. The rows here are the ones that en.ts must have too. */
import type { ErrorCode, FieldErrorCode, WeakPasswordReason } from '../errors.ts'

export const fr = {
  errors: {
    malformed_json: 'Le corps de la requête n’est pas un document JSON valide.',
    invalid_credentials: 'Identifiant ou mot de passe incorrect.',
    invalid_token: 'Le jeton présenté n’est pas valide.',
    token_expired: 'Le jeton présenté a expiré.',
    account_unconfirmed: 'Votre compte n’est pas encore confirmé.',
    account_locked: 'Votre compte est verrouillé.',
    route_not_found: 'Cette adresse n’existe pas.',
    session_not_found: 'Cette session n’existe pas.',
    identity_not_found: 'Cette identité n’est pas liée à votre compte.',
    provider_not_found: 'Ce fournisseur d’identité n’est pas proposé.',
    method_not_allowed: 'Cette méthode n’est pas permise à cette adresse.',
    identifier_taken: 'Cet identifiant est déjà utilisé par un autre compte.',
    identity_taken: 'Cette identité est déjà liée à un autre compte.',
    last_way_in: 'C’est votre dernier moyen de connexion : il ne peut pas être retiré.',
    two_factor_already_enabled: 'La double authentification est déjà activée.',
    two_factor_not_enabled: 'La double authentification n’est pas activée.',
    no_proved_contact: 'Votre compte n’a ni adresse e-mail ni numéro de téléphone vérifié.',
    password_not_set:
      'Votre compte n’a pas encore de mot de passe : choisissez-en un par la réinitialisation du mot de passe.',
    body_too_large: 'Le corps de la requête est trop volumineux.',
    unsupported_media_type: 'Le corps de la requête doit être envoyé en application/json.',
    validation_failed: 'Certains champs ne sont pas valides.',
    invalid_code: 'Ce code n’est pas valide ou a expiré.',
    invalid_state:
      'Cette connexion n’a pas été commencée dans ce navigateur, ou l’a été il y a trop longtemps. Veuillez recommencer.',
    country_not_allowed: 'Nous n’envoyons pas de SMS vers ce pays.',
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
  } satisfies Record<FieldErrorCode, string>,
  weakPassword: {
    too_short: 'Ce mot de passe est trop court.',
    common: 'Ce mot de passe est trop répandu : il serait vite deviné.',
    is_identifier: 'Le mot de passe ne doit pas reprendre votre identifiant.',
  } satisfies Record<WeakPasswordReason, string>,
  messages: {
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
    two_factor_enrolment_sent:
      'Un code à 6 chiffres vous a été envoyé pour activer la double authentification.',
    two_factor_disabled: 'La double authentification est désactivée.',
    two_factor_required: 'Un code à 6 chiffres vous a été envoyé pour terminer la connexion.',
    logged_out: 'Déconnexion effectuée.',
    logged_out_everywhere: 'Déconnexion effectuée sur tous vos appareils.',
    session_ended: 'Cet appareil est maintenant déconnecté.',
    account_erased: 'Votre compte a été supprimé définitivement.',
  },
}

/** What every language must have: the rows of the French one. */
export type Texts = { [Part in keyof typeof fr]: Record<keyof (typeof fr)[Part], string> }
