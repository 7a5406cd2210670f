/**
 * Portuguese, in words and spellings that Brazil and Portugal share: “senha”, “telefone”, “guardar”. The SMS leave out
 * the accents that are not in the alphabet of SMS (á, í, ó, ú, ã, õ, ç, ê), as is usual in Portuguese. The letters é
 * and à are in it.
 */

import { pagesPt } from './pages/pt.ts'
import type { Texts } from './texts.ts'

const alarm = 'Se não foi uma ação sua, altere a senha de imediato.'
/** The app of somebody else stays after a reset. */
const strangeApp =
  '[Se não foi uma ação sua, redefina a senha de imediato e avise os administradores: {support}|Se não foi uma ação sua, redefina a senha de imediato.]'
const smsAlarm = 'Se nao fez isto, altere a senha de imediato.'
const restore = 'Se não foi uma ação sua, anule esta alteração no prazo de sete dias: {link}'
const smsRestore = 'Se nao fez isto, anule no prazo de 7 dias: {link}'

export const pt: Texts = {
  errors: {
    malformed_json: 'O corpo do pedido não é um documento JSON válido.',
    invalid_request: 'Este pedido está incompleto ou não é válido.',
    invalid_grant: 'Este código ou token não é válido ou expirou.',
    unsupported_grant_type: 'Este tipo de autorização não é oferecido.',
    invalid_client: 'Esta aplicação não é conhecida aqui.',
    invalid_credentials: 'O identificador ou a senha não estão corretos.',
    invalid_token: 'O token apresentado não é válido.',
    token_expired: 'O token apresentado expirou.',
    login_expired: 'Este início de sessão expirou. Comece de novo.',
    unknown_passkey: 'Esta chave de acesso já não é reconhecida aqui.',
    account_unconfirmed: 'A sua conta ainda não está confirmada.',
    account_locked: 'A sua conta está bloqueada.',
    account_incomplete:
      'A sua conta ainda não está completa e não permite iniciar sessão. Contacte o operador deste serviço.',
    test_identity: 'Esta conta é de teste: só é possível mudar o idioma ou eliminá-la.',
    two_factor_required: 'Confirme esta operação com o seu segundo fator.',
    reauthentication_required:
      'Inicie sessão de novo primeiro: a última vez foi há demasiado tempo para esta operação.',
    passkey_too_new:
      'Esta chave de acesso foi adicionada há pouco. Confirme com a palavra-passe ou outro fator, ou use-a amanhã.',
    insufficient_scope: 'Não tem permissão para fazer isto.',
    registration_closed: 'Aqui não é possível criar contas sem convite.',
    invalid_invitation: 'Este convite não é válido, expirou ou está esgotado.',
    domain_not_allowed: 'Aqui as contas precisam de um endereço de e-mail de outro domínio.',
    registration_refused: 'Não foi possível criar esta conta. Fale com os responsáveis por este serviço.',
    route_not_found: 'Não há nada neste endereço.',
    session_not_found: 'Esta sessão não existe.',
    device_not_found: 'Este dispositivo de confiança não existe.',
    account_not_found: 'Esta conta não existe.',
    message_not_found: 'Esta mensagem não existe.',
    token_not_found: 'Este token não existe.',
    administrator_not_found: 'Esta conta não é de um administrador.',
    identity_not_found: 'Esta identidade não está associada à sua conta.',
    contact_not_found: 'A sua conta não tem este endereço ou número.',
    invitation_not_found: 'Este convite não existe.',
    prefix_not_found: 'Este prefixo de números está aberto.',
    webhook_not_found: 'Esse webhook não existe.',
    application_not_found: 'Essa aplicação não existe.',
    provider_not_found: 'Este fornecedor de identidade não está disponível.',
    passkey_not_found: 'Esta chave de acesso não existe.',
    method_not_allowed: 'Este método não é permitido neste endereço.',
    identifier_taken: 'Este identificador já é usado por outra conta.',
    identity_taken: 'Esta identidade já está associada a outra conta.',
    username_taken: 'Este nome de utilizador pertence ou já pertenceu a outra pessoa.',
    account_exists:
      'Já tem uma conta com este endereço de e-mail: inicie sessão nela e depois associe este fornecedor.',
    last_sign_in_method: 'É a sua última forma de iniciar sessão: não pode ser removida.',
    no_other_factor:
      'O segundo fator de uma conta sem palavra-passe é uma aplicação de autenticação ou uma chave de acesso, nunca um código enviado. Adicione primeiro uma delas ou escolha uma palavra-passe.',
    passkey_limit: 'A sua conta já tem todas as chaves de acesso possíveis: remova uma primeiro.',
    identity_limit: 'A sua conta já está ligada a todas as contas possíveis: desligue uma primeiro.',
    group_limit: 'A sua conta ficaria em demasiados grupos.',
    two_factor_already_enabled: 'A autenticação de dois fatores já está ativada.',
    two_factor_not_enabled: 'A autenticação de dois fatores não está ativada.',
    no_verified_contact: 'A sua conta não tem nenhum endereço de e-mail nem número de telefone verificado.',
    password_not_set: 'A sua conta não tem senha.',
    password_already_set: 'Esta conta está confirmada e tem senha: não precisa de convite.',
    use_another_method: 'Não são enviados códigos para esta conta. Utilize outro método.',
    not_resendable: 'Esta mensagem não pode ser enviada de novo.',
    body_too_large: 'O corpo do pedido é demasiado grande.',
    unsupported_media_type: 'O corpo do pedido deve ser enviado como {type}.',
    validation_failed: 'Alguns campos não são válidos.',
    claims_too_large: 'Os dados do token de acesso seriam demasiado grandes.',
    invalid_code: 'Este código não é válido, expirou ou já foi usado.',
    invalid_passkey: 'Não foi possível verificar esta chave de acesso. Tente novamente.',
    invalid_sign_in_state:
      'Este início de sessão não começou neste navegador, ou começou há demasiado tempo. Comece de novo.',
    country_not_allowed: 'Não enviamos SMS para este país.',
    channel_not_available: 'Não podemos enviar mensagens para este tipo de endereço ou número.',
    invalid_redirect_uri: 'Este endereço de retorno não é permitido.',
    idempotency_key_reused: 'Esta Idempotency-Key já foi usada para outro pedido.',
    terms_required: 'Aceite primeiro os termos de utilização.',
    too_many_attempts: 'Foram introduzidos demasiados códigos errados. Tente novamente mais tarde.',
    too_many_requests: 'Foram enviados demasiados pedidos. Aguarde antes de tentar novamente.',
    internal_error: 'Ocorreu um erro inesperado. Tente novamente mais tarde.',
    provider_unavailable: 'O fornecedor de identidade não responde. Tente novamente dentro de instantes.',
    server_busy: 'O serviço está muito ocupado. Tente novamente dentro de instantes.',
    unavailable: 'O serviço não está disponível neste momento. Tente novamente dentro de instantes.',
  },
  fields: {
    required: 'Este campo é obrigatório.',
    invalid_type: 'Este campo não é do tipo esperado.',
    invalid_value: 'Este valor não é um dos permitidos.',
    too_long: 'Este valor é demasiado longo.',
    invalid_email: 'Este endereço de e-mail não é válido.',
    invalid_phone: 'Este número de telefone não é válido.',
    invalid_characters: 'Este campo contém caracteres não permitidos.',
    identifier_required: 'Indique um endereço de e-mail ou um número de telefone.',
    password_mismatch: 'As duas senhas não são iguais.',
    weak_password: 'Esta senha é demasiado fraca.',
    wrong_password: 'Esta não é a sua senha.',
    not_allowed: 'Este valor não pode ser alterado aqui.',
    reserved: 'Este nome está reservado.',
    unknown_role: 'Não existe nenhum papel com este nome; o mais próximo é {nearest}.',
    unknown_field: 'Este nome não é conhecido aqui.',
  },
  weak_password: {
    too_short: 'Esta senha é demasiado curta: são necessários pelo menos {minimum} caracteres.',
    common: 'Esta senha é demasiado comum: seria adivinhada depressa.',
    is_identifier: 'A senha não pode ser o seu identificador.',
    is_service_name: 'A senha não pode limitar-se ao nome deste serviço.',
  },
  sentences: {
    number_between: 'Espera-se um número inteiro de {minimum} a {maximum}.',
    nearest_name: 'O mais próximo é {nearest}.',
    factor_stays:
      'É o único segundo fator de uma conta sem palavra-passe: só restariam códigos de recuperação. Para quem o perdeu, crie um código de acesso temporário (access-code) com remove_factors.',
    way_in_stays:
      'É a última forma de entrar nesta conta. Para quem a perdeu, crie um código de acesso temporário (access-code) com remove_factors.',
    passkey_removed: 'A chave de acesso foi removida.',
    code_sent_by_email: 'Foi enviado um código de 6 dígitos por e-mail.',
    code_sent_by_sms: 'Foi enviado um código de 6 dígitos por SMS.',
    account_confirmed: 'A sua conta foi confirmada.',
    account_confirmed_choose_password:
      'A sua conta foi confirmada. Vários pedidos de conta com senhas diferentes aguardavam por ela: escolha uma senha através da recuperação de senha.',
    confirmation_resent: 'Foi enviado um novo código de confirmação.',
    password_reset_sent: 'Se existir uma conta com este identificador, foi enviado um código de 6 dígitos.',
    password_reset: 'A sua senha foi alterada. Já pode iniciar sessão.',
    password_changed: 'A sua senha foi alterada.',
    email_change_sent: 'Foi enviado um código de 6 dígitos para o novo endereço de e-mail.',
    phone_change_sent: 'Foi enviado um código de 6 dígitos para o novo número de telefone.',
    two_factor_code_sent: 'Foi enviado de novo um código de 6 dígitos.',
    two_factor_app_required: 'Introduza o código do seu autenticador para terminar de iniciar sessão.',
    two_factor_passkey_required: 'Use a sua chave de acesso para concluir o início de sessão.',
    two_factor_recovery_required:
      'Introduza um dos seus códigos de recuperação para terminar de iniciar sessão.',
    two_factor_unavailable: 'Neste momento não é possível enviar um código. Tente novamente mais tarde.',
    two_factor_enrolment_sent:
      'Foi enviado um código de 6 dígitos para ativar a autenticação de dois fatores.',
    two_factor_disabled: 'A autenticação de dois fatores está desativada.',
    two_factor_required: 'Foi enviado um código de 6 dígitos para terminar de iniciar sessão.',
    logged_out: 'A sessão foi terminada.',
    logged_out_everywhere: 'A sessão foi terminada em todos os seus dispositivos.',
    session_ended: 'A sessão foi terminada neste dispositivo.',
    device_forgotten: 'Este dispositivo já não é de confiança.',
    removal_asked: 'Os dois fatores da sua conta vão ser desativados.',
    removal_stop: 'Mantê-los.',
    removal_stopped: 'Os dois fatores continuam ativos.',
    removal_gone: 'Já não há nada para parar aqui.',
    account_erased: 'A sua conta foi apagada definitivamente.',
  },
  messages: {
    greeting: 'Olá,',
    quotes: ['“', '”'],
    circumstances: 'Data: {date}.[ Dispositivo: {device}.][ Endereço IP: {address}.]',
    footer: '{service} — mensagem automática, por favor não responda.',
    reasons: {
      entered:
        '[Enviado para {recipient}, porque|Enviado porque] alguém escreveu este endereço em {host}.[ Perguntas: {support}]',
      owned:
        '[Enviado para {recipient}, porque|Enviado porque] é o endereço da sua conta em {host}.[ Perguntas: {support}]',
    },
    review: 'Rever a sua conta',
    reset: 'Escolher uma senha nova',
    actions: {
      undo: 'Anular esta alteração',
      keep: 'Mantê-la ativa',
      accept: 'Aceitar o convite',
      administer: 'Abrir a administração',
    },
    below_code: [
      'Válido por {duration}, uma única vez',
      'Não revele este código a ninguém. Se não fez este pedido, pode ignorar esta mensagem.',
    ],
    unasked: {
      two_factor:
        'Não revele este código a ninguém. Se não está a iniciar sessão, altere a senha de imediato: outra pessoa pode sabê-la.',
      step_up:
        'Não revele este código a ninguém. Se não foi uma ação sua, termine a sessão em todos os dispositivos e altere a senha: outra pessoa pode ter entrado.',
      recovery:
        'Não revele este código a ninguém. Se não o pediu, avise os administradores: alguém pode tê-los enganado.',
      invitation: 'Não revele este código a ninguém. Se não conhece {service}, não é preciso fazer nada.',
    },
    duration: { one: '{minutes} minuto', other: '{minutes} minutos' },
    removed: {
      email: 'o endereço de e-mail',
      phone: 'o número de telefone',
      passkey: 'uma chave de acesso',
      identity: 'o acesso com {provider}',
    },
    codes: {
      confirmation: {
        subject: 'Confirme a sua conta em {service}',
        email: ['Escreva este código onde criou a sua conta:'],
        sms: '{service}: {code} é o codigo para confirmar a sua conta. Expira em {minutes} min. Nunca o revele.',
      },
      login_code: {
        subject: 'O seu código para entrar em {service}',
        email: ['Escreva este código onde está a iniciar sessão:'],
        sms: '{service}: {code} é o codigo para entrar. Expira em {minutes} min. Nunca o revele.',
      },
      two_factor: {
        subject: 'O seu código para terminar de iniciar sessão em {service}',
        email: ['Escreva este código onde está a iniciar sessão:'],
        sms: '{service}: {code} é o codigo para terminar de entrar. Expira em {minutes} min. Nunca o revele.',
      },
      step_up: {
        subject: 'Confirme uma alteração na sua conta em {service}',
        email: ['Escreva este código onde está a fazer a alteração:'],
        sms: '{service}: {code} é o codigo para confirmar uma alteracao na conta. Expira em {minutes} min. Nunca o revele.',
      },
      password_reset: {
        subject: 'O seu código para escolher uma nova senha em {service}',
        email: ['Escreva este código onde o pediu, com a sua nova senha:'],
        sms: '{service}: {code} é o codigo para escolher uma nova senha. Expira em {minutes} min. Nunca o revele.',
      },
      email_change: {
        subject: 'Confirme o seu novo endereço de e-mail em {service}',
        email: ['Escreva este código onde indicou este endereço:'],
        sms: '{service}: {code} é o codigo para confirmar o novo e-mail. Expira em {minutes} min. Nunca o revele.',
      },
      phone_change: {
        subject: 'Confirme o seu novo número de telefone em {service}',
        email: ['Escreva este código onde indicou este número:'],
        sms: '{service}: {code} é o codigo para confirmar o novo numero. Expira em {minutes} min. Nunca o revele.',
      },
      two_factor_enrolment: {
        subject: 'Ative a autenticação de dois fatores em {service}',
        email: ['Escreva este código onde a está a ativar:'],
        sms: '{service}: {code} é o codigo para ativar a autenticacao de dois fatores. Expira em {minutes} min. Nunca o revele.',
      },
      recovery: {
        subject: 'O seu código de acesso temporário de {service}',
        email: ['Com este código pode escolher uma nova senha:'],
        sms: '{service}: {code} é o seu codigo de acesso temporario. Expira em {duration}. Nunca o revele.',
      },
      invitation: {
        subject: 'O seu convite para {service}',
        email: ['Com este código pode escolher a senha da sua nova conta:'],
        sms: '{service}: {code} é o codigo do seu convite. Expira em {duration}. Nunca o revele.',
      },
    },
    notices: {
      account_exists: {
        subject: 'Já tem uma conta em {service}',
        email: [
          'Alguém, talvez você, acaba de tentar criar outra com este endereço. Se não foi uma ação sua, não é preciso fazer nada: nada mudou.',
          'Inicie sessão, ou escolha uma nova senha se esqueceu a sua.',
        ],
        sms: '{service}: ja tem uma conta com este numero. Inicie sessao, ou escolha uma nova senha.',
      },
      password_changed: {
        subject: 'A sua senha de {service} foi alterada',
        email: [
          'A anterior já não serve.',
          '[Isto foi adicionado nos últimos sete dias e foi removido: {removed}.]',
          'Se não foi uma ação sua, redefina a senha de imediato.',
        ],
        sms: '{service}: a sua senha foi alterada. Se nao fez isto, redefina a senha de imediato.',
      },
      email_changed: {
        subject: 'O endereço de e-mail da sua conta em {service} foi alterado',
        email: ['Agora inicia sessão com o novo.', `[${restore}|${alarm}]`],
        sms: `{service}: o e-mail da sua conta foi alterado. [${smsRestore}|${smsAlarm}]`,
      },
      phone_changed: {
        subject: 'O número de telefone da sua conta em {service} foi alterado',
        email: ['Agora inicia sessão com o novo.', `[${restore}|${alarm}]`],
        sms: `{service}: o numero da sua conta foi alterado. [${smsRestore}|${smsAlarm}]`,
      },
      email_removed: {
        subject: 'O endereço de e-mail da sua conta em {service} foi removido',
        email: ['Já não serve para iniciar sessão.', `[${restore}|${alarm}]`],
        sms: `{service}: o e-mail da sua conta foi removido. [${smsRestore}|${smsAlarm}]`,
      },
      phone_removed: {
        subject: 'O número de telefone da sua conta em {service} foi removido',
        email: ['Já não serve para iniciar sessão.', `[${restore}|${alarm}]`],
        sms: `{service}: o numero da sua conta foi removido. [${smsRestore}|${smsAlarm}]`,
      },
      account_erased: {
        subject: 'A sua conta em {service} foi apagada',
        email: [
          'Tudo o que lhe pertencia desapareceu e não pode ser recuperado.',
          '[Se não foi uma ação sua, avise os administradores de {service}: {support}]',
        ],
        sms: '{service}: a sua conta foi apagada. Nao pode ser recuperada.',
      },
      contact_claimed: {
        subject: 'Alguém tentou adicionar o seu contacto a outra conta em {service}',
        email: [
          'Este endereço de e-mail pertence à sua conta e aí continua.',
          'Se foi uma ação sua, remova-o primeiro desta conta. Se não, não é preciso fazer nada.',
        ],
        sms: '{service}: alguém tentou adicionar o seu numero a outra conta. Continua na sua: nao é preciso fazer nada.',
      },
      two_factor_enabled: {
        subject: 'Autenticação de dois fatores ativada na sua conta em {service}',
        email: ['Iniciar sessão exige agora uma segunda etapa.', strangeApp],
        sms: '{service}: a autenticacao de dois fatores da sua conta foi ativada. Se nao fez isto, redefina a senha de imediato.',
      },
      contact_restored: {
        subject: 'Uma alteração de contacto foi anulada na sua conta em {service}',
        email: [
          'O anterior endereço de e-mail ou número foi reposto. Foi terminada a sessão em todos os dispositivos e a senha já não serve: redefina-a para iniciar sessão.',
          '[Também foi removido: {removed}.]',
          '[Se não reconhece esta operação, avise os administradores de {service}: {support}|Se não reconhece esta operação, redefina a senha de imediato.]',
        ],
        sms: '{service}: o contacto anterior da sua conta foi reposto e as sessoes terminaram. Redefina a senha para entrar.',
      },
      invited: {
        subject: 'O seu convite para {service}',
        email: [
          'Com ele pode abrir uma conta.',
          'Aceitar o convite: {link}',
          'Se não conhece {service}, não é preciso fazer nada.',
        ],
        sms: '{service}: foi convidado a abrir uma conta: {link}',
      },
      account_unlocked: {
        subject: 'A sua conta em {service} foi desbloqueada',
        email: ['Já pode iniciar sessão de novo.'],
        sms: '{service}: um administrador desbloqueou a sua conta. Pode iniciar sessao de novo.',
      },
      recovery_created: {
        subject: 'Foi criado um código de acesso temporário para a sua conta em {service}',
        email: [
          'Foi criado por um administrador. Quem o tiver pode escolher uma nova senha.',
          '[Se não o pediu, avise os administradores de imediato: {support}|Se não o pediu, alguém pode ter enganado os administradores. Receberá outra mensagem quando for escolhida uma nova senha: se não foi uma ação sua, redefina-a de imediato.]',
        ],
        sms: '{service}: um administrador criou um codigo de acesso temporario para a sua conta. [Nao o pediu? {support}|Se a senha mudar sem si, redefina-a.]',
      },
      two_factor_removal: {
        subject: 'A autenticação de dois fatores da sua conta em {service} vai ser desativada',
        email: [
          'Será no prazo de 24 horas: disseram a um administrador que perdeu o seu segundo fator.',
          'Se não o pediu, mantenha-a ativa: {link}',
        ],
        sms: '{service}: a autenticacao de dois fatores da sua conta sera desativada no prazo de 24 h. Nao o pediu? Mantenha-a: {link}',
      },
      two_factor_kept: {
        subject: 'A autenticação de dois fatores da sua conta em {service} continua ativa',
        email: ['Ia ser desativada, mas o seu segundo fator acaba de ser usado.', alarm],
        sms: `{service}: a autenticacao de dois fatores continua ativa, pois o segundo fator foi usado. ${smsAlarm}`,
      },
      account_exported: {
        subject: 'Os seus dados em {service} foram transferidos',
        email: ['Alguém com sessão iniciada na sua conta levou tudo o que está guardado sobre si.', alarm],
        sms: `{service}: foi transferida uma copia dos seus dados. ${smsAlarm}`,
      },
      new_device: {
        subject: 'Novo início de sessão na sua conta em {service}',
        email: [
          'Foi num dispositivo novo ou a partir de um lugar novo.',
          'Se foi uma ação sua, não é preciso fazer nada. Se não, altere a senha de imediato. A segunda etapa voltará então a ser pedida em todos os dispositivos.',
        ],
        sms: `{service}: inicio de sessao num dispositivo novo ou a partir de um lugar novo. ${smsAlarm}`,
      },
      operator_prefix_closed: {
        subject: 'Os SMS para números que começam por {about} estão suspensos em {service}',
        email: [
          'Quase nenhum dos códigos enviados a esses números foi introduzido, o que parece fraude. Durante um dia, as pessoas sem conta não recebem SMS neles.',
        ],
        sms: '{service}: durante um dia nao ha SMS para numeros que comecam por {about} para pessoas sem conta.',
      },
      operator_wrong_codes: {
        subject: 'Muitos códigos errados em {service}',
        email: ['Foram introduzidos num minuto. Alguém pode estar a adivinhar códigos.'],
        sms: '{service}: muitos codigos errados num minuto. Alguém pode estar a adivinhar codigos.',
      },
      operator_pool_dry: {
        subject: 'Uma cota de mensagens esgotou-se em {service}',
        email: [
          'É a cota {about}. Até que se recupere, as mensagens que dependem dela esperam ou são recusadas. Se não esperava tantas, alguém pode estar a provocá-las de propósito.',
        ],
        sms: '{service}: a cota de mensagens {about} esgotou-se.',
      },
      operator_gateway_suspended: {
        subject: 'Os códigos enviados por {about} não chegam em {service}',
        email: ['Foram introduzidos muito poucos. Por agora, este gateway só é usado se os outros falharem.'],
        sms: '{service}: os codigos enviados pelo gateway {about} nao chegam.',
      },
      operator_removal_stopped: {
        subject: 'Um titular manteve a autenticação de dois fatores em {service}',
        email: [
          'A sua equipa de apoio tinha pedido para a desativar. Alguém pode tê-la enganado: veja os eventos do tipo undo.used.',
        ],
        sms: '{service}: um titular manteve a autenticacao de dois fatores que a sua equipa ia desativar.',
      },
      operator_access_granted: {
        subject: 'Um novo acesso à administração de {service}',
        email: [
          'Alguém passou a ser administrador ou recebeu mais permissões, ou foi criado um token de administração. Se não foi nenhum de vocês, veja os eventos dos tipos administrator.added, administrator.role_changed e token.created, e retire esse acesso.',
        ],
        sms: '{service}: ha um novo acesso a administracao.',
      },
      operator_accounts_exported: {
        subject: 'As contas de {service} foram exportadas para um arquivo',
        email: [
          'Foi alguém que pode executar comandos na sua máquina. O arquivo contém os resumos das senhas e os segredos dos aplicativos autenticadores. Se não foi nenhum de vocês, veja os eventos do tipo accounts.exported.',
        ],
        sms: '{service}: as contas foram exportadas para um arquivo.',
      },
      operator_webhook_away: {
        subject: '{about} não recebe eventos de {service} há uma hora',
        email: [
          'Nada se perde enquanto os eventos são guardados: {service} volta a tentar a cada 15 segundos. «poterne webhooks try {about}» diz o que se passa.',
        ],
        sms: '{service}: o webhook {about} nao responde ha uma hora.',
      },
      operator_webhook_given_up: {
        subject: '{service} desistiu de enviar um evento a {about}',
        email: [
          'Este webhook recusou-o durante quatro dias. «poterne webhooks waiting {about}» diz qual, e «poterne webhooks retry {about}» volta a enviá-lo.',
        ],
        sms: '{service}: um evento para o webhook {about} ja nao e enviado.',
      },
      operator_claim_missing: {
        subject: 'Falta um dado nos tokens de acesso de {service}',
        email: [
          'Pelo menos uma conta não tem o dado {about}, ou todos juntos são demasiado grandes. Onde é obrigatório, essa conta não pode iniciar sessão. O registo e poterne doctor indicam as contas.',
        ],
        sms: '{service}: falta o dado {about} em tokens de acesso.',
      },
      two_factor_disabled: {
        subject: 'Autenticação de dois fatores desativada na sua conta em {service}',
        email: ['Iniciar sessão já não exige uma segunda etapa.', alarm],
        sms: `{service}: a autenticacao de dois fatores da sua conta foi desativada. ${smsAlarm}`,
      },
      authenticator_changed: {
        subject: 'A sua conta em {service} tem um novo autenticador',
        email: [
          'Os códigos para entrar vêm agora dele. Há novos códigos de recuperação: os antigos já não servem.',
          strangeApp,
        ],
        sms: '{service}: os codigos da sua conta agora chegam de outro autenticador. Se nao fez isto, redefina a senha de imediato.',
      },
      recovery_code_used: {
        subject: 'Foi usado um código de recuperação da sua conta em {service}',
        email: ['Já não serve.[ Restam {left}.]', alarm],
        sms: `{service}: foi usado um codigo de recuperacao da sua conta. [Restam {left}. ]${smsAlarm}`,
      },
      recovery_codes_replaced: {
        subject: 'Novos códigos de recuperação para a sua conta em {service}',
        email: ['Os antigos já não servem.', alarm],
        sms: `{service}: a sua conta tem novos codigos de recuperacao. ${smsAlarm}`,
      },
      authenticator_lost: {
        subject: '{service} já não consegue verificar os códigos do seu autenticador',
        email: [
          'Deve-se a uma alteração no servidor. Inicie sessão com um código de recuperação e adicione de novo o autenticador.',
          'Se já não tem nenhum código de recuperação, enviaremos um código quando iniciar sessão.',
        ],
        sms: '{service}: ja nao verificamos os codigos do seu autenticador. Use um codigo de recuperacao e adicione-o de novo.',
      },
      second_factor_failed: {
        subject: 'Códigos errados depois da sua senha em {service}',
        email: [
          'Alguém que sabe a sua senha introduziu-os num dispositivo que ainda não tinha sido usado.',
          'Se foi uma ação sua, não é preciso fazer nada. Se não, altere a senha de imediato. Até agora, o segundo fator impediu a entrada.',
        ],
        sms: `{service}: alguém que sabe a sua senha introduziu codigos errados. ${smsAlarm}`,
      },
      refresh_token_reused: {
        subject: 'Foi terminada uma sessão da sua conta em {service}',
        email: [
          'Foi usada em dois lugares ao mesmo tempo e pode ter sido roubada: inicie sessão de novo nesse dispositivo.',
          'Se não a reconhece, altere a senha de imediato.',
        ],
        sms: `{service}: uma sessao foi usada em dois lugares e por isso terminada. ${smsAlarm}`,
      },
      identity_linked: {
        subject: 'Uma nova forma de entrar na sua conta em {service}',
        email: [
          'Agora pode iniciar sessão com [a sua conta {provider}|uma conta externa].',
          'Se não foi uma ação sua, remova este acesso e altere a senha de imediato.',
        ],
        sms: `{service}: agora pode iniciar sessao com [{provider}|uma conta externa]. ${smsAlarm}`,
      },
      passkey_added: {
        subject: 'Foi adicionada uma chave de acesso à sua conta em {service}',
        email: [
          'Agora pode iniciar sessão com [{passkey}|ela].',
          'Se não foi uma ação sua, remova-a e altere a senha de imediato.',
        ],
        sms: `{service}: foi adicionada uma chave de acesso. ${smsAlarm}`,
      },
      passkey_removed: {
        subject: 'Foi removida uma chave de acesso da sua conta em {service}',
        email: ['Já não pode iniciar sessão com [{passkey}|ela].', alarm],
        sms: `{service}: foi removida uma chave de acesso. ${smsAlarm}`,
      },
      passkey_copied: {
        subject: 'Uma chave de acesso da sua conta em {service} pode ter sido copiada',
        email: [
          'Acabámos de recusar um início de sessão que parecia usar uma cópia [de {passkey}|dela].',
          'Remova essa chave de acesso e adicione uma nova.',
        ],
        sms: '{service}: entrada recusada, pois uma chave de acesso parece ter sido copiada. Remova-a e adicione outra.',
      },
      identity_unlinked: {
        subject: 'Foi removida uma forma de entrar na sua conta em {service}',
        email: ['Já não pode iniciar sessão com [a sua conta {provider}|uma conta externa].', alarm],
        sms: `{service}: ja nao pode iniciar sessao com [{provider}|uma conta externa]. ${smsAlarm}`,
      },
    },
  },
  undo: {
    title: 'Repor o seu contacto',
    about:
      '{contact} já não faz parte da sua conta em {service}. Se não foi o autor desta alteração, anule-a aqui.',
    effects:
      'Todas as sessões serão terminadas, o que foi adicionado desde então será removido e a senha deixará de servir. A autenticação de dois fatores ficará como estava.',
    button: 'Repor',
    done_title: 'O seu contacto foi reposto',
    done: '{contact} volta a fazer parte da sua conta em {service}. Todas as sessões foram terminadas.',
    next: 'Para iniciar sessão, peça uma nova senha: será enviado um código para {contact}.',
    invalid_title: 'Esta ligação já não funciona',
    invalid: 'Já foi utilizada, tem mais de sete dias ou está incompleta.',
    taken_title: 'Nada foi alterado',
    taken: '{contact} pertence agora a outra conta em {service}.[ Avise os seus administradores: {support}]',
    refused_title: 'Aguarde um momento',
  },
  mailbox: {
    messages: 'Mensagens',
    is_new: 'Nova',
    title: 'Caixa de mensagens',
    about: 'Nada é enviado: as mensagens chegam aqui.',
    empty: 'Nenhuma mensagem aqui.',
    copy: 'Copiar',
    copied: 'Copiado',
    email: 'E-mail',
    sms: 'SMS',
    all: 'Todas as mensagens',
    channel: 'Tipo de mensagem',
    notice: 'Aviso',
    filter: 'Filtrar por destinatário ou por texto',
    clear: 'Esvaziar',
    text_part: 'Texto',
    html_part: 'Versão HTML',
    documentation: 'Documentação da API',
    administration: 'Administração',
    closed: 'Abra o endereço que o poterne mostrou ao arrancar: os códigos estão atrás dele.',
  },
  start: {
    to_pages: 'O que as pessoas veem: registo, início de sessão e conta.',
    to_mailbox: 'Cada mensagem que teria sido enviada, com o seu código.',
    to_documentation: 'Cada operação da interface, para experimentar aqui.',
    to_administration: 'A página de proprietários e suporte.',
    people: 'Pessoas para experimentar',
    nobody: 'Ninguém ainda: inicie com `--seed`, ou registe-se.',
    about_plain: 'Inicia sessão sem mais.',
    about_authenticator_app: 'Tem uma aplicação de autenticação.',
    about_locked: 'Um administrador bloqueou a conta.',
    about_unconfirmed: 'Ainda não confirmou a conta: o código está na caixa de correio.',
    about_from_file: 'Do seu ficheiro.',
    owner: 'Proprietária da página de administração.',
    password: 'Palavra-passe',
    app_code: 'Código da aplicação, agora',
    sign_in_as: 'Iniciar sessão como {name}',
    application: 'Para a sua aplicação',
    no_application:
      'Para iniciar sessão por redirecionamento, escreva em config.toml, na pasta onde o poterne foi iniciado, e reinicie-o:',
  },
  purposes: {
    confirmation: 'Confirmação da conta',
    login_code: 'Código para iniciar sessão',
    two_factor: 'Autenticação de dois fatores',
    step_up: 'Confirmação de uma alteração',
    password_reset: 'Nova senha',
    email_change: 'Novo endereço de e-mail',
    phone_change: 'Novo número de telefone',
    two_factor_enrolment: 'Ativação da autenticação de dois fatores',
    recovery: 'Código de acesso temporário',
    invitation: 'Convite',
  },
  pages: pagesPt,
}
