/**
 * Spanish, in words that Spain and Latin America share. The SMS leave out the accents of á, í, ó and ú, which are not
 * in the alphabet of SMS, as is usual in Spanish. The letters é, ñ, ¿ and ¡ are in it.
 */

import { pagesEs } from './pages/es.ts'
import type { Texts } from './texts.ts'

const alarm = 'Si no fue usted, cambie su contraseña de inmediato.'
/** The app of somebody else stays after a reset. */
const strangeApp =
  '[Si no fue usted, restablezca su contraseña de inmediato y avise a los administradores: {support}|Si no fue usted, restablezca su contraseña de inmediato.]'
const restore = 'Si no fue usted, deshaga este cambio en un plazo de siete días: {link}'
const smsRestore = 'Si no fue usted, deshaga el cambio antes de 7 dias: {link}'

export const es: Texts = {
  errors: {
    malformed_json: 'El cuerpo de la solicitud no es un documento JSON válido.',
    invalid_request: 'Esta petición está incompleta o no es válida.',
    invalid_grant: 'Este código o token no es válido o ha caducado.',
    unsupported_grant_type: 'No se ofrece este tipo de autorización.',
    invalid_client: 'Esta aplicación no se conoce aquí.',
    invalid_credentials: 'El identificador o la contraseña no son correctos.',
    invalid_token: 'El token presentado no es válido.',
    token_expired: 'El token presentado ha caducado.',
    login_expired: 'Este inicio de sesión ha caducado. Empiece de nuevo.',
    unknown_passkey: 'Esta llave de acceso ya no se reconoce aquí.',
    account_unconfirmed: 'Su cuenta todavía no está confirmada.',
    account_locked: 'Su cuenta está bloqueada.',
    account_incomplete:
      'Su cuenta aún no está completa y no permite iniciar sesión. Póngase en contacto con el operador de este servicio.',
    test_identity: 'Esta cuenta es de prueba: solo se puede cambiar su idioma, o eliminarla.',
    two_factor_required: 'Confirme esta operación con su segundo factor.',
    reauthentication_required:
      'Vuelva a iniciar sesión primero: la última vez fue hace demasiado tiempo para esta operación.',
    passkey_too_new:
      'Esta llave de acceso se acaba de añadir. Confirme con su contraseña o con otro factor, o úsela mañana.',
    insufficient_scope: 'No tiene permiso para hacer esto.',
    registration_closed: 'Aquí no se pueden crear cuentas sin una invitación.',
    invalid_invitation: 'Esta invitación no es válida, ha caducado o está agotada.',
    domain_not_allowed: 'Aquí las cuentas necesitan una dirección de correo de otro dominio.',
    registration_refused: 'No se ha podido crear esta cuenta. Consulte a los responsables de este servicio.',
    route_not_found: 'No hay nada en esta dirección.',
    session_not_found: 'Esta sesión no existe.',
    device_not_found: 'Este dispositivo de confianza no existe.',
    account_not_found: 'Esta cuenta no existe.',
    message_not_found: 'Este mensaje no existe.',
    token_not_found: 'Este token no existe.',
    administrator_not_found: 'Esta cuenta no es de un administrador.',
    identity_not_found: 'Esta identidad no está vinculada a su cuenta.',
    contact_not_found: 'Su cuenta no tiene este contacto.',
    invitation_not_found: 'No existe esta invitación.',
    prefix_not_found: 'Este prefijo de números está abierto.',
    webhook_not_found: 'Ese webhook no existe.',
    application_not_found: 'Esa aplicación no existe.',
    provider_not_found: 'Este proveedor de identidad no está disponible.',
    passkey_not_found: 'Esta llave de acceso no existe.',
    method_not_allowed: 'Este método no está permitido en esta dirección.',
    identifier_taken: 'Otra cuenta ya utiliza este identificador.',
    identity_taken: 'Esta identidad ya está vinculada a otra cuenta.',
    username_taken: 'Este nombre de usuario pertenece o ha pertenecido a otra persona.',
    account_exists:
      'Ya tiene una cuenta con esta dirección de correo: inicie sesión en ella y después vincule este proveedor.',
    last_sign_in_method: 'Es su última forma de iniciar sesión: no se puede quitar.',
    no_other_factor:
      'El segundo factor de una cuenta sin contraseña es una aplicación de autenticación o una llave de acceso, nunca un código enviado. Añada antes una de ellas o elija una contraseña.',
    passkey_limit: 'Su cuenta ya tiene todas las llaves de acceso posibles: quite una primero.',
    identity_limit: 'Su cuenta ya está vinculada a todas las cuentas posibles: desvincule una primero.',
    group_limit: 'Su cuenta estaría en demasiados grupos.',
    two_factor_already_enabled: 'La verificación en dos pasos ya está activada.',
    two_factor_not_enabled: 'La verificación en dos pasos no está activada.',
    no_verified_contact: 'Su cuenta no tiene ninguna dirección de correo ni número de teléfono verificados.',
    password_not_set: 'Su cuenta no tiene contraseña.',
    password_already_set: 'Esta cuenta está confirmada y tiene contraseña: no necesita invitación.',
    use_another_method: 'No se envían códigos a esta cuenta. Utilice otro método.',
    not_resendable: 'Este mensaje no se puede volver a enviar.',
    body_too_large: 'El cuerpo de la solicitud es demasiado grande.',
    unsupported_media_type: 'El cuerpo de la solicitud debe enviarse como {type}.',
    validation_failed: 'Algunos campos no son válidos.',
    claims_too_large: 'Los datos del token de acceso serían demasiado grandes.',
    invalid_code: 'Este código no es válido, ha caducado o ya se ha usado.',
    invalid_passkey: 'No se pudo verificar esta llave de acceso. Inténtelo de nuevo.',
    invalid_sign_in_state:
      'Este inicio de sesión no comenzó en este navegador, o comenzó hace demasiado tiempo. Empiece de nuevo.',
    country_not_allowed: 'No enviamos SMS a este país.',
    channel_not_available: 'No podemos enviar mensajes a este tipo de dirección o de número.',
    invalid_redirect_uri: 'Esta dirección de retorno no está permitida.',
    idempotency_key_reused: 'Esta Idempotency-Key ya se usó para otra solicitud.',
    terms_required: 'Acepte primero las condiciones de uso.',
    too_many_attempts: 'Se han introducido demasiados códigos incorrectos. Inténtelo más tarde.',
    too_many_requests: 'Se han enviado demasiadas solicitudes. Espere antes de intentarlo de nuevo.',
    internal_error: 'Se ha producido un error inesperado. Inténtelo más tarde.',
    provider_unavailable: 'El proveedor de identidad no responde. Inténtelo de nuevo en unos instantes.',
    server_busy: 'El servicio está muy ocupado. Inténtelo de nuevo en unos instantes.',
    unavailable: 'El servicio no está disponible en este momento. Inténtelo de nuevo en unos instantes.',
  },
  fields: {
    required: 'Este campo es obligatorio.',
    invalid_type: 'Este campo no es del tipo esperado.',
    invalid_value: 'Este valor no es uno de los permitidos.',
    too_long: 'Este valor es demasiado largo.',
    invalid_email: 'Esta dirección de correo no es válida.',
    invalid_phone: 'Este número de teléfono no es válido.',
    invalid_characters: 'Este campo contiene caracteres no permitidos.',
    identifier_required: 'Indique una dirección de correo o un número de teléfono.',
    password_mismatch: 'Las dos contraseñas no coinciden.',
    weak_password: 'Esta contraseña es demasiado débil.',
    wrong_password: 'Esta no es su contraseña.',
    not_allowed: 'Este valor no se puede cambiar aquí.',
    reserved: 'Este nombre está reservado.',
    unknown_role: 'No hay ningún rol con este nombre; el más parecido es {nearest}.',
    unknown_field: 'Este nombre no se conoce aquí.',
  },
  weak_password: {
    too_short: 'Esta contraseña es demasiado corta: se necesitan al menos {minimum} caracteres.',
    common: 'Esta contraseña es demasiado común: se adivinaría pronto.',
    is_identifier: 'La contraseña no puede ser su identificador.',
    is_service_name: 'La contraseña no puede reducirse al nombre de este servicio.',
  },
  sentences: {
    number_between: 'Se espera un número entero de {minimum} a {maximum}.',
    nearest_name: 'El más parecido es {nearest}.',
    factor_stays:
      'Es el único segundo factor de una cuenta sin contraseña: solo quedarían códigos de recuperación. Para quien lo haya perdido, cree un código de acceso temporal (access-code) con remove_factors.',
    way_in_stays:
      'Es la última forma de entrar en esta cuenta. Para quien la haya perdido, cree un código de acceso temporal (access-code) con remove_factors.',
    passkey_removed: 'Se ha quitado la llave de acceso.',
    code_sent_by_email: 'Le hemos enviado un código de 6 cifras por correo electrónico.',
    code_sent_by_sms: 'Le hemos enviado un código de 6 cifras por SMS.',
    account_confirmed: 'Su cuenta ha quedado confirmada.',
    account_confirmed_choose_password:
      'Su cuenta ha quedado confirmada. La esperaban varios registros con contraseñas distintas: elija una mediante el restablecimiento de contraseña.',
    confirmation_resent: 'Le hemos enviado un nuevo código de confirmación.',
    password_reset_sent: 'Si hay una cuenta con este identificador, le hemos enviado un código de 6 cifras.',
    password_reset: 'Su contraseña ha cambiado. Ya puede iniciar sesión.',
    password_changed: 'Su contraseña ha cambiado.',
    email_change_sent: 'Hemos enviado un código de 6 cifras a la nueva dirección de correo.',
    phone_change_sent: 'Hemos enviado un código de 6 cifras al nuevo número de teléfono.',
    two_factor_code_sent: 'Le hemos enviado de nuevo un código de 6 cifras.',
    two_factor_app_required:
      'Introduzca el código de su aplicación de autenticación para terminar de iniciar sesión.',
    two_factor_passkey_required: 'Use su llave de acceso para terminar de iniciar sesión.',
    two_factor_recovery_required:
      'Introduzca uno de sus códigos de recuperación para terminar de iniciar sesión.',
    two_factor_unavailable: 'Ahora mismo no se le puede enviar ningún código. Inténtelo más tarde.',
    two_factor_enrolment_sent:
      'Le hemos enviado un código de 6 cifras para activar la verificación en dos pasos.',
    two_factor_disabled: 'La verificación en dos pasos está desactivada.',
    two_factor_required: 'Le hemos enviado un código de 6 cifras para terminar de iniciar sesión.',
    logged_out: 'Ha cerrado la sesión.',
    logged_out_everywhere: 'Ha cerrado la sesión en todos sus dispositivos.',
    session_ended: 'Se ha cerrado la sesión en este dispositivo.',
    device_forgotten: 'Este dispositivo ya no es de confianza.',
    removal_asked: 'La verificación en dos pasos de su cuenta se va a desactivar.',
    removal_stop: 'Mantenerla.',
    removal_stopped: 'La verificación en dos pasos sigue activa.',
    removal_gone: 'Aquí ya no hay nada que detener.',
    account_erased: 'Su cuenta se ha eliminado definitivamente.',
  },
  messages: {
    greeting: 'Hola:',
    quotes: ['«', '»'],
    circumstances: 'Fecha: {date}.[ Dispositivo: {device}.][ Dirección IP: {address}.]',
    footer: '{service} — mensaje automático, por favor no responda.',
    reasons: {
      entered:
        '[Enviado a {recipient}, porque|Enviado porque] alguien escribió esta dirección en {host}.[ Preguntas: {support}]',
      owned:
        '[Enviado a {recipient}, porque|Enviado porque] es la dirección de su cuenta en {host}.[ Preguntas: {support}]',
    },
    review: 'Revisar su cuenta',
    reset: 'Elegir una contraseña nueva',
    actions: {
      undo: 'Deshacer este cambio',
      keep: 'Mantenerla activa',
      accept: 'Aceptar la invitación',
      administer: 'Abrir la administración',
    },
    below_code: [
      'Válido durante {duration}, una sola vez',
      'No comparta este código con nadie. Si no lo ha pedido usted, puede ignorar este mensaje.',
    ],
    unasked: {
      two_factor:
        'No comparta este código con nadie. Si no está iniciando sesión, cambie su contraseña de inmediato: puede que otra persona la conozca.',
      step_up:
        'No comparta este código con nadie. Si no es usted, cierre la sesión en todos los dispositivos y cambie su contraseña: puede que otra persona haya entrado.',
      recovery:
        'No comparta este código con nadie. Si no lo ha pedido, avise a los administradores: puede que alguien los haya engañado.',
      invitation: 'No comparta este código con nadie. Si no conoce {service}, no tiene que hacer nada.',
    },
    duration: { one: '{minutes} minuto', other: '{minutes} minutos' },
    removed: {
      email: 'la dirección de correo',
      phone: 'el número de teléfono',
      passkey: 'una llave de acceso',
      identity: 'el acceso con {provider}',
    },
    codes: {
      confirmation: {
        subject: 'Confirme su cuenta de {service}',
        email: ['Escriba este código donde creó su cuenta:'],
        sms: '{service}: {code} es el codigo para confirmar su cuenta. Caduca en {minutes} min. No lo comparta.',
      },
      login_code: {
        subject: 'Su código para entrar en {service}',
        email: ['Escriba este código donde está iniciando sesión:'],
        sms: '{service}: {code} es el codigo para entrar. Caduca en {minutes} min. No lo comparta.',
      },
      two_factor: {
        subject: 'Su código para terminar de iniciar sesión en {service}',
        email: ['Escriba este código donde está iniciando sesión:'],
        sms: '{service}: {code} es el codigo para terminar de entrar. Caduca en {minutes} min. No lo comparta.',
      },
      step_up: {
        subject: 'Confirme un cambio en su cuenta de {service}',
        email: ['Escriba este código donde está haciendo el cambio:'],
        sms: '{service}: {code} es el codigo para confirmar un cambio en su cuenta. Caduca en {minutes} min. No lo comparta.',
      },
      password_reset: {
        subject: 'Su código para elegir una nueva contraseña en {service}',
        email: ['Escriba este código donde lo pidió, junto con su nueva contraseña:'],
        sms: '{service}: {code} es el codigo para elegir otra contraseña. Caduca en {minutes} min. No lo comparta.',
      },
      email_change: {
        subject: 'Confirme su nueva dirección de correo en {service}',
        email: ['Escriba este código donde indicó esta dirección:'],
        sms: '{service}: {code} es el codigo para confirmar su nuevo correo. Caduca en {minutes} min. No lo comparta.',
      },
      phone_change: {
        subject: 'Confirme su nuevo número de teléfono en {service}',
        email: ['Escriba este código donde indicó este número:'],
        sms: '{service}: {code} es el codigo para confirmar su nuevo numero. Caduca en {minutes} min. No lo comparta.',
      },
      two_factor_enrolment: {
        subject: 'Active la verificación en dos pasos en {service}',
        email: ['Escriba este código donde la está activando:'],
        sms: '{service}: {code} es el codigo para activar la verificacion en dos pasos. Caduca en {minutes} min. No lo comparta.',
      },
      recovery: {
        subject: 'Su código de acceso temporal de {service}',
        email: ['Con este código puede elegir una nueva contraseña:'],
        sms: '{service}: {code} es su codigo de acceso temporal. Caduca en {duration}. No lo comparta.',
      },
      invitation: {
        subject: 'Su invitación a {service}',
        email: ['Con este código puede elegir la contraseña de su nueva cuenta:'],
        sms: '{service}: {code} es el codigo de su invitacion. Caduca en {duration}. No lo comparta.',
      },
    },
    notices: {
      account_exists: {
        subject: 'Ya tiene una cuenta en {service}',
        email: [
          'Alguien, seguramente usted, acaba de intentar crear otra con esta dirección. Si no fue usted, no tiene que hacer nada: no ha cambiado nada.',
          'Inicie sesión, o elija una nueva contraseña si ha olvidado la suya.',
        ],
        sms: '{service}: ya tiene una cuenta con este numero. Inicie sesion, o elija una nueva contraseña.',
      },
      password_changed: {
        subject: 'Su contraseña de {service} ha cambiado',
        email: [
          'La anterior ya no sirve.',
          '[Esto se añadió en los últimos siete días y se ha quitado: {removed}.]',
          'Si no fue usted, restablezca su contraseña de inmediato.',
        ],
        sms: '{service}: su contraseña ha cambiado. Si no fue usted, restablezcala de inmediato.',
      },
      email_changed: {
        subject: 'La dirección de correo de su cuenta de {service} ha cambiado',
        email: ['Ahora inicia sesión con la nueva.', `[${restore}|${alarm}]`],
        sms: `{service}: el correo de su cuenta ha cambiado. [${smsRestore}|${alarm}]`,
      },
      phone_changed: {
        subject: 'El número de teléfono de su cuenta de {service} ha cambiado',
        email: ['Ahora inicia sesión con el nuevo.', `[${restore}|${alarm}]`],
        sms: `{service}: el numero de su cuenta ha cambiado. [${smsRestore}|${alarm}]`,
      },
      email_removed: {
        subject: 'Se ha quitado la dirección de correo de su cuenta de {service}',
        email: ['Ya no sirve para iniciar sesión.', `[${restore}|${alarm}]`],
        sms: `{service}: se ha quitado el correo de su cuenta. [${smsRestore}|${alarm}]`,
      },
      phone_removed: {
        subject: 'Se ha quitado el número de teléfono de su cuenta de {service}',
        email: ['Ya no sirve para iniciar sesión.', `[${restore}|${alarm}]`],
        sms: `{service}: se ha quitado el numero de su cuenta. [${smsRestore}|${alarm}]`,
      },
      account_erased: {
        subject: 'Su cuenta de {service} se ha eliminado',
        email: [
          'Todo lo que le pertenecía ha desaparecido y no se puede recuperar.',
          '[Si no fue usted, avise a los administradores de {service}: {support}]',
        ],
        sms: '{service}: su cuenta se ha eliminado. No se puede recuperar.',
      },
      contact_claimed: {
        subject: 'Alguien intentó añadir sus datos a otra cuenta de {service}',
        email: [
          'Esta dirección de correo pertenece a su cuenta y ahí se queda.',
          'Si fue usted, quítela primero de esta cuenta. Si no, no tiene que hacer nada.',
        ],
        sms: '{service}: alguien intento añadir su numero a otra cuenta. Sigue en la suya: no tiene que hacer nada.',
      },
      two_factor_enabled: {
        subject: 'Verificación en dos pasos activada en su cuenta de {service}',
        email: ['Ahora se pide un segundo paso para iniciar sesión.', strangeApp],
        sms: '{service}: se ha activado la verificacion en dos pasos en su cuenta. Si no fue usted, restablezca su contraseña.',
      },
      contact_restored: {
        subject: 'Se ha deshecho un cambio de contacto en su cuenta de {service}',
        email: [
          'La anterior dirección de correo o el anterior número vuelve a ser de la cuenta. Se ha cerrado la sesión en todos los dispositivos y la contraseña ya no sirve: restablézcala para iniciar sesión.',
          '[También se ha quitado: {removed}.]',
          '[Si no lo reconoce, avise a los administradores de {service}: {support}|Si no lo reconoce, restablezca su contraseña de inmediato.]',
        ],
        sms: '{service}: su contacto anterior esta restablecido y las sesiones, cerradas. Restablezca su contraseña para entrar.',
      },
      invited: {
        subject: 'Su invitación a {service}',
        email: [
          'Con ella puede abrir una cuenta.',
          'Aceptar la invitación: {link}',
          'Si no conoce {service}, no tiene que hacer nada.',
        ],
        sms: '{service}: esta invitado a abrir una cuenta: {link}',
      },
      account_unlocked: {
        subject: 'Su cuenta de {service} está desbloqueada',
        email: ['Ya puede volver a iniciar sesión.'],
        sms: '{service}: un administrador ha desbloqueado su cuenta. Ya puede volver a iniciar sesion.',
      },
      recovery_created: {
        subject: 'Se ha creado un código de acceso temporal para su cuenta de {service}',
        email: [
          'Lo creó un administrador. Quien lo tenga puede elegir una nueva contraseña.',
          '[Si usted no lo pidió, avise de inmediato a los administradores: {support}|Si usted no lo pidió, puede que alguien haya engañado a los administradores. Le escribiremos cuando se elija una nueva contraseña: si no la eligió usted, restablézcala de inmediato.]',
        ],
        sms: '{service}: un administrador creo un codigo de acceso temporal para su cuenta. [¿No lo pidio? {support}|Si su contraseña cambia sin usted, restablezcala.]',
      },
      two_factor_removal: {
        subject: 'La verificación en dos pasos de su cuenta de {service} se va a desactivar',
        email: [
          'Será antes de 24 horas: han dicho a un administrador que usted ha perdido su segundo factor.',
          'Si no lo ha pedido usted, manténgala activa: {link}',
        ],
        sms: '{service}: la verificacion en dos pasos de su cuenta se desactivara antes de 24 h. ¿No lo ha pedido? Mantengala: {link}',
      },
      two_factor_kept: {
        subject: 'La verificación en dos pasos de su cuenta de {service} sigue activa',
        email: ['Se iba a desactivar, pero se acaba de usar su segundo factor.', alarm],
        sms: `{service}: la verificacion en dos pasos sigue activa, porque se uso su segundo factor. ${alarm}`,
      },
      account_exported: {
        subject: 'Se han descargado sus datos de {service}',
        email: [
          'Alguien con la sesión iniciada en su cuenta se ha llevado todo lo que se guarda sobre usted.',
          alarm,
        ],
        sms: `{service}: se ha descargado una copia de sus datos. ${alarm}`,
      },
      new_device: {
        subject: 'Nuevo inicio de sesión en su cuenta de {service}',
        email: [
          'Fue en un dispositivo nuevo o desde un lugar nuevo.',
          'Si fue usted, no tiene que hacer nada. Si no, cambie su contraseña de inmediato. Entonces se volverá a pedir el segundo paso en todos los dispositivos.',
        ],
        sms: `{service}: inicio de sesion en un dispositivo nuevo o desde un lugar nuevo. ${alarm}`,
      },
      operator_prefix_closed: {
        subject: 'Los SMS a números que empiezan por {about} están en pausa en {service}',
        email: [
          'Casi ninguno de los códigos enviados a esos números se ha introducido, lo que parece un fraude. Durante un día, las personas sin cuenta no reciben SMS allí.',
        ],
        sms: '{service}: durante un dia no se envian SMS a numeros que empiezan por {about} a personas sin cuenta.',
      },
      operator_wrong_codes: {
        subject: 'Muchos códigos erróneos en {service}',
        email: ['Se introdujeron en un minuto. Alguien puede estar adivinando códigos.'],
        sms: '{service}: muchos codigos erroneos en un minuto. Alguien puede estar adivinando codigos.',
      },
      operator_pool_dry: {
        subject: 'Se ha agotado un cupo de mensajes en {service}',
        email: [
          'Es el cupo {about}. Hasta que se recupere, los mensajes que dependen de él esperan o se rechazan. Si no esperaba tantos, puede que alguien los esté provocando a propósito.',
        ],
        sms: '{service}: se ha agotado el cupo de mensajes {about}.',
      },
      operator_gateway_suspended: {
        subject: 'Los códigos enviados por {about} no llegan en {service}',
        email: ['Se han introducido muy pocos. Por ahora, esta pasarela solo se usa si las demás fallan.'],
        sms: '{service}: los codigos enviados por la pasarela {about} no llegan.',
      },
      operator_removal_stopped: {
        subject: 'Un titular mantuvo la verificación en dos pasos en {service}',
        email: [
          'Su equipo de asistencia había pedido desactivarla. Puede que alguien lo haya engañado: mire los eventos de tipo undo.used.',
        ],
        sms: '{service}: un titular mantuvo la verificacion en dos pasos que su equipo iba a desactivar.',
      },
      operator_access_granted: {
        subject: 'Un nuevo acceso a la administración de {service}',
        email: [
          'Alguien pasó a ser administrador o recibió más permisos, o se creó un token de administración. Si no fue ninguno de ustedes, mire los eventos de tipos administrator.added, administrator.role_changed y token.created, y retire ese acceso.',
        ],
        sms: '{service}: hay un nuevo acceso a la administracion.',
      },
      operator_accounts_exported: {
        subject: 'Las cuentas de {service} se exportaron a un archivo',
        email: [
          'Lo hizo alguien que puede ejecutar comandos en su máquina. El archivo contiene los resúmenes de las contraseñas y los secretos de las aplicaciones de autenticación. Si no fue ninguno de ustedes, mire los eventos de tipo accounts.exported.',
        ],
        sms: '{service}: las cuentas se exportaron a un archivo.',
      },
      operator_webhook_away: {
        subject: '{about} no recibe eventos de {service} desde hace una hora',
        email: [
          'Nada se pierde mientras se conserven los eventos: {service} vuelve a intentarlo cada 15 segundos. «poterne webhooks try {about}» dice qué ocurre.',
        ],
        sms: '{service}: el webhook {about} no responde desde hace 1 hora.',
      },
      operator_webhook_given_up: {
        subject: '{service} dejó de enviar un evento a {about}',
        email: [
          'Este webhook lo rechazó durante cuatro días. «poterne webhooks waiting {about}» dice cuál, y «poterne webhooks retry {about}» lo envía de nuevo.',
        ],
        sms: '{service}: un evento para el webhook {about} no se envia mas.',
      },
      operator_claim_missing: {
        subject: 'Falta un dato en los tokens de acceso de {service}',
        email: [
          'Al menos una cuenta no tiene el dato {about}, o todos juntos son demasiado grandes. Donde es obligatorio, esa cuenta no puede iniciar sesión. El registro y poterne doctor indican las cuentas.',
        ],
        sms: '{service}: falta el dato {about} en tokens de acceso.',
      },
      two_factor_disabled: {
        subject: 'Verificación en dos pasos desactivada en su cuenta de {service}',
        email: ['Ya no se pide un segundo paso para iniciar sesión.', alarm],
        sms: `{service}: se ha desactivado la verificacion en dos pasos en su cuenta. ${alarm}`,
      },
      authenticator_changed: {
        subject: 'Su cuenta de {service} tiene una nueva aplicación de autenticación',
        email: [
          'Los códigos para entrar vienen ahora de ella. Hay nuevos códigos de recuperación: los anteriores ya no sirven.',
          strangeApp,
        ],
        sms: '{service}: sus codigos vienen ahora de otra aplicacion de autenticacion. Si no fue usted, restablezca su contraseña.',
      },
      recovery_code_used: {
        subject: 'Se ha usado un código de recuperación de su cuenta de {service}',
        email: ['Ya no sirve.[ Quedan {left}.]', alarm],
        sms: `{service}: se uso un codigo de recuperacion de su cuenta. [Quedan {left}. ]${alarm}`,
      },
      recovery_codes_replaced: {
        subject: 'Nuevos códigos de recuperación para su cuenta de {service}',
        email: ['Los anteriores ya no sirven.', alarm],
        sms: `{service}: su cuenta tiene nuevos codigos de recuperacion. ${alarm}`,
      },
      authenticator_lost: {
        subject: '{service} ya no puede comprobar los códigos de su aplicación',
        email: [
          'Se debe a un cambio en su servidor. Inicie sesión con un código de recuperación y vuelva a añadir la aplicación.',
          'Si no le queda ningún código de recuperación, le enviaremos un código al iniciar sesión.',
        ],
        sms: '{service}: ya no podemos comprobar los codigos de su app. Use un codigo de recuperacion y vuelva a añadir la app.',
      },
      second_factor_failed: {
        subject: 'Códigos incorrectos después de su contraseña en {service}',
        email: [
          'Alguien que conoce su contraseña los introdujo en un dispositivo que usted no había usado antes.',
          'Si fue usted, no tiene que hacer nada. Si no, cambie su contraseña de inmediato. Hasta ahora, el segundo factor ha impedido el acceso.',
        ],
        sms: `{service}: alguien que sabe su contraseña puso codigos incorrectos. ${alarm}`,
      },
      refresh_token_reused: {
        subject: 'Se ha cerrado una sesión de su cuenta de {service}',
        email: [
          'Se usó en dos lugares a la vez y puede que la hayan robado: vuelva a iniciar sesión en ese dispositivo.',
          'Si no lo reconoce, cambie su contraseña de inmediato.',
        ],
        sms: `{service}: una sesion se uso en dos lugares y la hemos cerrado. ${alarm}`,
      },
      identity_linked: {
        subject: 'Una nueva forma de entrar en su cuenta de {service}',
        email: [
          'Ahora puede iniciar sesión con [su cuenta de {provider}|una cuenta externa].',
          'Si no fue usted, quite este acceso y cambie su contraseña de inmediato.',
        ],
        sms: `{service}: ahora puede iniciar sesion con [{provider}|una cuenta externa]. ${alarm}`,
      },
      passkey_added: {
        subject: 'Se ha añadido una llave de acceso a su cuenta de {service}',
        email: [
          'Ahora puede iniciar sesión con [{passkey}|ella].',
          'Si no fue usted, quítela y cambie su contraseña de inmediato.',
        ],
        sms: `{service}: se ha añadido una llave de acceso. ${alarm}`,
      },
      passkey_removed: {
        subject: 'Se ha quitado una llave de acceso de su cuenta de {service}',
        email: ['Ya no puede iniciar sesión con [{passkey}|ella].', alarm],
        sms: `{service}: se ha quitado una llave de acceso. ${alarm}`,
      },
      passkey_copied: {
        subject: 'Puede que se haya copiado una llave de acceso de su cuenta de {service}',
        email: [
          'Acabamos de rechazar un inicio de sesión que parecía usar una copia de [{passkey}|ella].',
          'Quite esa llave de acceso y añada una nueva.',
        ],
        sms: '{service}: acceso rechazado, parece que han copiado una llave de acceso. Quitela y añada una nueva.',
      },
      identity_unlinked: {
        subject: 'Se ha quitado una forma de entrar en su cuenta de {service}',
        email: ['Ya no puede iniciar sesión con [su cuenta de {provider}|una cuenta externa].', alarm],
        sms: `{service}: ya no puede iniciar sesion con [{provider}|una cuenta externa]. ${alarm}`,
      },
    },
  },
  undo: {
    title: 'Restablecer su contacto',
    about:
      '{contact} ya no forma parte de su cuenta de {service}. Si no hizo usted este cambio, deshágalo aquí.',
    effects:
      'Se cerrarán todas las sesiones, se quitará lo que se haya añadido desde entonces y la contraseña dejará de servir. La verificación en dos pasos quedará como estaba.',
    button: 'Restablecer',
    done_title: 'Su contacto se ha restablecido',
    done: '{contact} vuelve a formar parte de su cuenta de {service}. Se han cerrado todas las sesiones.',
    next: 'Para iniciar sesión, pida una nueva contraseña: se enviará un código a {contact}.',
    invalid_title: 'Este enlace ya no funciona',
    invalid: 'Ya se ha utilizado, tiene más de siete días o está incompleto.',
    taken_title: 'No se ha cambiado nada',
    taken: '{contact} pertenece ahora a otra cuenta de {service}.[ Avise a sus administradores: {support}]',
    refused_title: 'Espere un momento',
  },
  mailbox: {
    messages: 'Mensajes',
    is_new: 'Nuevo',
    title: 'Buzón',
    about: 'No sale nada: los mensajes llegan aquí.',
    empty: 'No hay ningún mensaje.',
    copy: 'Copiar',
    copied: 'Copiado',
    email: 'Correo',
    sms: 'SMS',
    all: 'Todos los mensajes',
    channel: 'Tipo de mensaje',
    notice: 'Aviso',
    filter: 'Filtrar por destinatario o por texto',
    clear: 'Vaciar',
    text_part: 'Texto',
    html_part: 'Versión HTML',
    documentation: 'Documentación de la API',
    administration: 'Administración',
    closed: 'Abra la dirección que poterne mostró al arrancar: los códigos están detrás de ella.',
  },
  start: {
    to_pages: 'Lo que ven las personas: registro, inicio de sesión y cuenta.',
    to_mailbox: 'Cada mensaje que se habría enviado, con su código.',
    to_documentation: 'Cada operación de la interfaz, para probarla desde aquí.',
    to_administration: 'La página de propietarios y soporte.',
    people: 'Personas para probar',
    nobody: 'Todavía nadie: inicie con `--seed`, o regístrese.',
    about_plain: 'Inicia sesión sin más.',
    about_authenticator_app: 'Tiene una aplicación de autenticación.',
    about_locked: 'Un administrador bloqueó su cuenta.',
    about_unconfirmed: 'Aún no ha confirmado su cuenta: el código está en el buzón.',
    about_from_file: 'De su archivo.',
    owner: 'Propietaria de la página de administración.',
    password: 'Contraseña',
    app_code: 'Código de la aplicación, ahora',
    sign_in_as: 'Iniciar sesión como {name}',
    application: 'Para su aplicación',
    no_application:
      'Para iniciar sesión mediante una redirección, escriba en config.toml, en la carpeta donde se inició poterne, y vuelva a iniciarlo:',
  },
  purposes: {
    confirmation: 'Confirmación de la cuenta',
    login_code: 'Código para iniciar sesión',
    two_factor: 'Verificación en dos pasos',
    step_up: 'Confirmación de un cambio',
    password_reset: 'Nueva contraseña',
    email_change: 'Nueva dirección de correo',
    phone_change: 'Nuevo número de teléfono',
    two_factor_enrolment: 'Activación de la verificación en dos pasos',
    recovery: 'Código de acceso temporal',
    invitation: 'Invitación',
  },
  pages: pagesEs,
}
