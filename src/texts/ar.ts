/**
 * Modern Standard Arabic. SMS with Arabic letters have 70 characters instead of 160, so they are short. They begin with
 * an Arabic word, by which a telephone lays out the whole line from right to left.
 */

import { pagesAr } from './pages/ar.ts'
import type { Texts } from './texts.ts'

const alarm = 'إن لم تكن أنت من فعل ذلك، فغيّر كلمة المرور فورًا.'
const smsAlarm = 'لست أنت؟ غير كلمة المرور.'
const restore = 'إن لم تكن أنت من فعل ذلك، فتراجع عن هذا التغيير خلال سبعة أيام: {link}'
const smsRestore = 'إن لم تكن أنت فتراجع خلال 7 أيام: {link}'

export const ar: Texts = {
  errors: {
    malformed_json: 'محتوى الطلب ليس مستند JSON صالحًا.',
    invalid_request: 'هذا الطلب غير مكتمل أو غير صالح.',
    invalid_grant: 'هذا الرمز غير صالح أو انتهت صلاحيته.',
    unsupported_grant_type: 'نوع التفويض هذا غير متاح.',
    invalid_client: 'هذا التطبيق غير معروف هنا.',
    invalid_credentials: 'المعرّف أو كلمة المرور غير صحيحة.',
    invalid_token: 'رمز الوصول المقدَّم غير صالح.',
    token_expired: 'انتهت صلاحية رمز الوصول المقدَّم.',
    login_expired: 'انتهت صلاحية محاولة تسجيل الدخول هذه. يرجى البدء من جديد.',
    unknown_passkey: 'مفتاح المرور هذا لم يعد معروفًا هنا.',
    account_unconfirmed: 'لم يُؤكَّد حسابك بعد.',
    account_locked: 'حسابك مقفل.',
    account_incomplete: 'حسابك غير مكتمل بعد، ولا يمكن تسجيل الدخول به. يُرجى التواصل مع مشغّل هذه الخدمة.',
    test_identity: 'هذا الحساب مخصص للاختبار: لا يمكن سوى تغيير لغته أو حذفه.',
    two_factor_required: 'يرجى تأكيد هذه العملية بالعامل الثاني.',
    reauthentication_required:
      'يرجى تسجيل الدخول من جديد أولًا، فقد مضى على آخر تسجيل دخول وقت أطول مما تسمح به هذه العملية.',
    passkey_too_new:
      'أُضيف مفتاح المرور هذا قبل قليل. يرجى التأكيد بكلمة المرور أو بعامل آخر، أو استخدامه غدًا.',
    insufficient_scope: 'لا يُسمح لك بفعل ذلك.',
    registration_closed: 'لا يمكن فتح حسابات جديدة هنا بدون دعوة.',
    invalid_invitation: 'هذه الدعوة غير صالحة أو انتهت صلاحيتها أو استُنفدت.',
    domain_not_allowed: 'تتطلب الحسابات هنا عنوان بريد إلكتروني من نطاق آخر.',
    registration_refused: 'تعذّر فتح هذا الحساب. يُرجى التواصل مع القائمين على هذه الخدمة.',
    route_not_found: 'لا يوجد شيء في هذا العنوان.',
    session_not_found: 'هذه الجلسة غير موجودة.',
    device_not_found: 'هذا الجهاز الموثوق به غير موجود.',
    account_not_found: 'هذا الحساب غير موجود.',
    message_not_found: 'هذه الرسالة غير موجودة.',
    token_not_found: 'رمز الوصول هذا غير موجود.',
    administrator_not_found: 'هذا الحساب ليس حساب مسؤول.',
    identity_not_found: 'هذه الهوية غير مرتبطة بحسابك.',
    contact_not_found: 'ليست في حسابك وسيلة الاتصال هذه.',
    invitation_not_found: 'لا توجد دعوة كهذه.',
    prefix_not_found: 'بادئة الأرقام هذه مفتوحة.',
    webhook_not_found: 'لا يوجد webhook بهذا الاسم.',
    application_not_found: 'هذا التطبيق غير موجود.',
    provider_not_found: 'مزوّد الهوية هذا غير متاح.',
    passkey_not_found: 'مفتاح المرور هذا غير موجود.',
    method_not_allowed: 'هذه الطريقة غير مسموح بها في هذا العنوان.',
    identifier_taken: 'هذا المعرّف مستخدم في حساب آخر.',
    identity_taken: 'هذه الهوية مرتبطة بحساب آخر.',
    username_taken: 'اسم المستخدم هذا لشخص آخر، أو كان له من قبل.',
    account_exists: 'لديك حساب بهذا البريد الإلكتروني: سجّل الدخول إليه ثم اربط به هذا المزوّد.',
    last_sign_in_method: 'هذه آخر وسيلة لديك لتسجيل الدخول، ولا يمكن إزالتها.',
    no_other_factor:
      'العامل الثاني لحساب بلا كلمة مرور هو تطبيق مصادقة أو مفتاح مرور، وليس رمزًا مرسلًا أبدًا. أضف أحدهما أولًا، أو اختر كلمة مرور.',
    passkey_limit: 'بلغ حسابك الحد الأقصى من مفاتيح المرور: أزل واحدًا منها أولًا.',
    identity_limit: 'حسابك مرتبط بأكبر عدد ممكن من الحسابات الأخرى: ألغ ربط واحد منها أولًا.',
    group_limit: 'سيكون حسابك في عدد كبير جدًا من المجموعات.',
    two_factor_already_enabled: 'التحقق بخطوتين مفعّل بالفعل.',
    two_factor_not_enabled: 'التحقق بخطوتين غير مفعّل.',
    no_verified_contact: 'ليس في حسابك بريد إلكتروني أو رقم هاتف تم التحقق منه.',
    password_not_set: 'ليست لحسابك كلمة مرور.',
    password_already_set: 'هذا الحساب مؤكَّد وله كلمة مرور، ولا يحتاج إلى دعوة.',
    use_another_method: 'لا تُرسل رموز إلى هذا الحساب. يرجى استخدام طريقة أخرى.',
    not_resendable: 'لا يمكن إرسال هذه الرسالة مرة أخرى.',
    body_too_large: 'محتوى الطلب أكبر من اللازم.',
    unsupported_media_type: 'يجب إرسال محتوى الطلب بصيغة {type}.',
    validation_failed: 'بعض الحقول غير صالحة.',
    claims_too_large: 'بيانات رمز الوصول أكبر من المسموح به.',
    invalid_code: 'هذا الرمز غير صحيح أو انتهت صلاحيته أو سبق استخدامه.',
    invalid_passkey: 'تعذّر التحقق من مفتاح المرور هذا. يرجى المحاولة مرة أخرى.',
    invalid_sign_in_state:
      'لم يبدأ تسجيل الدخول هذا في هذا المتصفح، أو بدأ منذ وقت طويل. يرجى البدء من جديد.',
    country_not_allowed: 'لا نرسل رسائل نصية إلى هذا البلد.',
    channel_not_available: 'لا يمكننا إرسال رسائل إلى هذا النوع من العناوين أو الأرقام.',
    invalid_redirect_uri: 'عنوان العودة هذا غير مسموح به.',
    idempotency_key_reused: 'سبق استخدام هذا المفتاح Idempotency-Key لطلب آخر.',
    terms_required: 'يرجى قبول شروط الاستخدام أولاً.',
    too_many_attempts: 'أُدخل عدد كبير من الرموز الخاطئة. يرجى المحاولة لاحقًا.',
    too_many_requests: 'أُرسل عدد كبير من الطلبات. يرجى الانتظار قبل المحاولة مرة أخرى.',
    internal_error: 'حدث خطأ غير متوقع. يرجى المحاولة لاحقًا.',
    provider_unavailable: 'مزوّد الهوية لا يستجيب. يرجى المحاولة بعد قليل.',
    server_busy: 'الخدمة مشغولة جدًا. يرجى المحاولة بعد قليل.',
    unavailable: 'الخدمة غير متاحة حاليًا. يرجى المحاولة بعد قليل.',
  },
  fields: {
    required: 'هذا الحقل مطلوب.',
    invalid_type: 'نوع هذا الحقل ليس النوع المتوقع.',
    invalid_value: 'هذه القيمة ليست من القيم المسموح بها.',
    too_long: 'هذه القيمة أطول من اللازم.',
    invalid_email: 'عنوان البريد الإلكتروني هذا غير صالح.',
    invalid_phone: 'رقم الهاتف هذا غير صالح.',
    invalid_characters: 'يحتوي هذا الحقل على أحرف غير مسموح بها.',
    identifier_required: 'يرجى إدخال بريد إلكتروني أو رقم هاتف.',
    password_mismatch: 'كلمتا المرور غير متطابقتين.',
    weak_password: 'كلمة المرور هذه ضعيفة.',
    wrong_password: 'هذه ليست كلمة المرور الخاصة بك.',
    not_allowed: 'لا يمكن تغيير هذه القيمة هنا.',
    reserved: 'هذا الاسم محجوز.',
    unknown_role: 'لا يوجد دور بهذا الاسم؛ الأقرب هو {nearest}.',
    unknown_field: 'هذا الاسم غير معروف هنا.',
  },
  weak_password: {
    too_short: 'كلمة المرور هذه قصيرة جدًا: يلزم {minimum} من الأحرف على الأقل.',
    common: 'كلمة المرور هذه شائعة ويسهل تخمينها.',
    is_identifier: 'يجب ألا تكون كلمة المرور هي معرّفك نفسه.',
    is_service_name: 'يجب ألا تكون كلمة المرور مجرد اسم هذه الخدمة.',
  },
  sentences: {
    number_between: 'المتوقع عدد صحيح من {minimum} إلى {maximum}.',
    nearest_name: 'الأقرب هو {nearest}.',
    factor_stays:
      'هذا هو العامل الثاني الوحيد لحساب بلا كلمة مرور: لن تبقى إلا رموز الاسترداد. لمن فقده، أنشئ رمز وصول مؤقتًا (access-code) مع remove_factors.',
    way_in_stays:
      'هذه آخر وسيلة للدخول إلى هذا الحساب. لمن فقدها، أنشئ رمز وصول مؤقتًا (access-code) مع remove_factors.',
    passkey_removed: 'تمت إزالة مفتاح المرور.',
    code_sent_by_email: 'أرسلنا إليك رمزًا من 6 أرقام عبر البريد الإلكتروني.',
    code_sent_by_sms: 'أرسلنا إليك رمزًا من 6 أرقام في رسالة نصية.',
    account_confirmed: 'تم تأكيد حسابك.',
    account_confirmed_choose_password:
      'تم تأكيد حسابك. كانت هناك عدة طلبات تسجيل بكلمات مرور مختلفة: يرجى اختيار كلمة مرور عن طريق إعادة تعيينها.',
    confirmation_resent: 'أرسلنا إليك رمز تأكيد جديدًا.',
    password_reset_sent: 'إن كان لهذا المعرّف حساب، فقد أُرسل إليه رمز من 6 أرقام.',
    password_reset: 'تم تغيير كلمة المرور. يمكنك الآن تسجيل الدخول.',
    password_changed: 'تم تغيير كلمة المرور.',
    email_change_sent: 'أُرسل رمز من 6 أرقام إلى عنوان البريد الإلكتروني الجديد.',
    phone_change_sent: 'أُرسل رمز من 6 أرقام إلى رقم الهاتف الجديد.',
    two_factor_code_sent: 'أرسلنا إليك من جديد رمزًا من 6 أرقام.',
    two_factor_app_required: 'أدخل الرمز الظاهر في تطبيق المصادقة لإتمام تسجيل الدخول.',
    two_factor_passkey_required: 'استخدم مفتاح المرور لإكمال تسجيل الدخول.',
    two_factor_recovery_required: 'أدخل أحد رموز الاسترداد لإتمام تسجيل الدخول.',
    two_factor_unavailable: 'لا يمكن إرسال رمز إليك الآن. يرجى المحاولة لاحقًا.',
    two_factor_enrolment_sent: 'أرسلنا إليك رمزًا من 6 أرقام لتفعيل التحقق بخطوتين.',
    two_factor_disabled: 'تم إيقاف التحقق بخطوتين.',
    two_factor_required: 'أرسلنا إليك رمزًا من 6 أرقام لإتمام تسجيل الدخول.',
    logged_out: 'تم تسجيل خروجك.',
    logged_out_everywhere: 'تم تسجيل خروجك من جميع أجهزتك.',
    session_ended: 'تم تسجيل الخروج من هذا الجهاز.',
    device_forgotten: 'لم يعد هذا الجهاز موثوقًا به.',
    removal_asked: 'سيُوقف التحقق بخطوتين لحسابك.',
    removal_stop: 'إبقاؤه.',
    removal_stopped: 'يبقى التحقق بخطوتين مفعّلًا.',
    removal_gone: 'لم يعد هنا ما يمكن إيقافه.',
    account_erased: 'حُذف حسابك نهائيًا.',
  },
  messages: {
    greeting: 'مرحبًا،',
    quotes: ['«', '»'],
    circumstances: 'التاريخ: {date}.[ الجهاز: {device}.][ عنوان IP: {address}.]',
    footer: '{service} — رسالة تلقائية، يرجى عدم الرد عليها.',
    reasons: {
      entered: 'أُرسلت[ إلى {recipient}] لأن شخصًا ما أدخل هذا العنوان في {host}.[ للأسئلة: {support}]',
      owned: 'أُرسلت[ إلى {recipient}] لأنه عنوان حسابك في {host}.[ للأسئلة: {support}]',
    },
    review: 'مراجعة حسابك',
    reset: 'اختيار كلمة مرور جديدة',
    actions: {
      undo: 'التراجع عن هذا التغيير',
      keep: 'إبقاؤه مفعّلًا',
      accept: 'قبول الدعوة',
      administer: 'فتح الإدارة',
    },
    below_code: [
      'صالح لمدة {duration} ويُستخدم مرة واحدة فقط',
      'لا تشارك هذا الرمز مع أي شخص. إن لم تطلبه، يمكنك تجاهل هذه الرسالة.',
    ],
    unasked: {
      two_factor:
        'لا تشارك هذا الرمز مع أي شخص. إن لم تكن تسجّل الدخول الآن، فغيّر كلمة المرور فورًا: ربما يعرفها شخص آخر.',
      step_up:
        'لا تشارك هذا الرمز مع أي شخص. إن لم تكن أنت، فسجّل الخروج من جميع الأجهزة وغيّر كلمة المرور: ربما سجّل شخص آخر الدخول.',
    },
    duration: {
      one: 'دقيقة واحدة',
      two: 'دقيقتين',
      few: '{minutes} دقائق',
      many: '{minutes} دقيقة',
      other: '{minutes} دقيقة',
    },
    removed: {
      email: 'عنوان البريد الإلكتروني',
      phone: 'رقم الهاتف',
      passkey: 'مفتاح مرور',
      identity: 'تسجيل الدخول عبر {provider}',
    },
    codes: {
      confirmation: {
        subject: 'تأكيد حسابك في {service}',
        email: ['أدخل هذا الرمز حيث أنشأت حسابك:'],
        sms: 'رمز تأكيد حسابك في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      login_code: {
        subject: 'رمز الدخول إلى {service}',
        email: ['أدخل هذا الرمز حيث تسجّل الدخول:'],
        sms: 'رمز الدخول إلى {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      two_factor: {
        subject: 'رمز إتمام تسجيل الدخول إلى {service}',
        email: ['أدخل هذا الرمز حيث تسجّل الدخول:'],
        sms: 'رمز إتمام دخول {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      step_up: {
        subject: 'تأكيد تغيير في حسابك في {service}',
        email: ['أدخل هذا الرمز حيث تُجري التغيير:'],
        sms: 'رمز تعديل حسابك في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      password_reset: {
        subject: 'رمز اختيار كلمة مرور جديدة في {service}',
        email: ['أدخل هذا الرمز حيث طلبته، مع كلمة المرور الجديدة:'],
        sms: 'رمز كلمة المرور في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      email_change: {
        subject: 'تأكيد بريدك الإلكتروني الجديد في {service}',
        email: ['أدخل هذا الرمز حيث كتبت هذا العنوان:'],
        sms: 'رمز تغيير بريدك في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      phone_change: {
        subject: 'تأكيد رقم هاتفك الجديد في {service}',
        email: ['أدخل هذا الرمز حيث كتبت هذا الرقم:'],
        sms: 'رمز تغيير رقمك في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      two_factor_enrolment: {
        subject: 'تفعيل التحقق بخطوتين في {service}',
        email: ['أدخل هذا الرمز حيث تفعّل التحقق بخطوتين:'],
        sms: 'رمز الخطوتين في {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      recovery: {
        subject: 'رمز الدخول المؤقت إلى {service}',
        email: ['تختار بهذا الرمز كلمة مرور جديدة:'],
        sms: 'رمز مؤقت لـ {service}: {code}. صالح {duration}. لا تشاركه.',
      },
      invitation: {
        subject: 'دعوتك إلى {service}',
        email: ['تختار بهذا الرمز كلمة مرور حسابك الجديد:'],
        sms: 'رمز الدعوة إلى {service}: {code}. صالح {duration}. لا تشاركه.',
      },
    },
    notices: {
      account_exists: {
        subject: 'لديك حساب في {service}',
        email: [
          'حاول أحدهم للتو، وربما أنت، إنشاء حساب آخر بهذا العنوان. سجّل الدخول، أو اختر كلمة مرور جديدة إن نسيت كلمتك.',
          'إن لم تكن أنت، فلا داعي لفعل شيء: لم يتغير شيء.',
        ],
        sms: 'لهذا الرقم حساب في {service}. سجل الدخول به.',
      },
      password_changed: {
        subject: 'تغيّرت كلمة المرور في {service}',
        email: [
          'لم تعد الكلمة القديمة صالحة.',
          '[أُضيف هذا خلال الأيام السبعة الأخيرة وأُزيل: {removed}.]',
          'إن لم تكن أنت من فعل ذلك، فأعد تعيين كلمة المرور فورًا.',
        ],
        sms: 'تغيرت كلمة مرورك في {service}. لست أنت؟ أعد تعيينها.',
      },
      email_changed: {
        subject: 'تغيّر البريد الإلكتروني لحسابك في {service}',
        email: ['تسجّل الدخول الآن بالعنوان الجديد.', `[${restore}|${alarm}]`],
        sms: `تغير بريد حسابك في {service}. [${smsRestore}|${smsAlarm}]`,
      },
      phone_changed: {
        subject: 'تغيّر رقم الهاتف لحسابك في {service}',
        email: ['تسجّل الدخول الآن بالرقم الجديد.', `[${restore}|${alarm}]`],
        sms: `تغير رقم حسابك في {service}. [${smsRestore}|${smsAlarm}]`,
      },
      email_removed: {
        subject: 'أُزيل البريد الإلكتروني من حسابك في {service}',
        email: ['لم يعد بإمكانك تسجيل الدخول به.', `[${restore}|${alarm}]`],
        sms: `أزيل بريد حسابك في {service}. [${smsRestore}|${smsAlarm}]`,
      },
      phone_removed: {
        subject: 'أُزيل رقم الهاتف من حسابك في {service}',
        email: ['لم يعد بإمكانك تسجيل الدخول به.', `[${restore}|${alarm}]`],
        sms: `أزيل رقم حسابك في {service}. [${smsRestore}|${smsAlarm}]`,
      },
      account_erased: {
        subject: 'حُذف حسابك في {service}',
        email: [
          'حُذف معه كل ما يخصه، ولا يمكن استعادته.',
          '[إن لم تكن أنت من فعل ذلك، فأبلغ المسؤولين عن {service}: {support}]',
        ],
        sms: 'حذف حسابك في {service}. لا يمكن استعادته.',
      },
      contact_claimed: {
        subject: 'حاول أحدهم إضافة بياناتك إلى حساب آخر في {service}',
        email: [
          'هذا البريد الإلكتروني تابع لحسابك وسيبقى كذلك.',
          'إن كنت أنت، فأزله أولًا من هذا الحساب. وإن لم تكن أنت، فلا داعي لفعل شيء.',
        ],
        sms: 'أراد أحدهم رقمك لحساب آخر في {service}. لم يتغير شيء.',
      },
      two_factor_enabled: {
        subject: 'فُعّل التحقق بخطوتين لحسابك في {service}',
        email: ['يتطلب تسجيل الدخول الآن خطوة ثانية.', alarm],
        sms: `فعلت الخطوتان في {service}. ${smsAlarm}`,
      },
      contact_restored: {
        subject: 'تراجع عن تغيير وسيلة اتصال في حسابك في {service}',
        email: [
          'عاد إليه عنوان البريد الإلكتروني أو رقم الهاتف السابق. سُجّل الخروج من جميع الأجهزة، ولم تعد كلمة المرور صالحة: أعد تعيينها لتسجيل الدخول.',
          '[أُزيل معه: {removed}.]',
          '[إن لم تكن على علم بذلك، فأبلغ المسؤولين عن {service}: {support}|إن لم تكن على علم بذلك، فأعد تعيين كلمة المرور فورًا.]',
        ],
        sms: 'استعيد رقمك أو بريدك في {service}. أعد تعيين كلمة المرور.',
      },
      invited: {
        subject: 'دعوتك إلى {service}',
        email: [
          'يمكنك بها فتح حساب.',
          'قبول الدعوة: {link}',
          'إذا كنت لا تعرف {service}، فلا داعي لفعل أي شيء.',
        ],
        sms: '{service}: أنت مدعو إلى فتح حساب: {link}',
      },
      account_unlocked: {
        subject: 'فُتح قفل حسابك في {service}',
        email: ['يمكنك تسجيل الدخول من جديد.'],
        sms: 'فتح قفل حسابك في {service}. يمكنك الدخول من جديد.',
      },
      recovery_created: {
        subject: 'أُنشئ رمز دخول مؤقت إلى حسابك في {service}',
        email: [
          'أنشأه أحد المسؤولين. يستطيع من يملكه اختيار كلمة مرور جديدة.',
          '[إذا لم تطلب ذلك، فأبلغ المسؤولين فورًا: {support}|إذا لم تطلب ذلك، فربما خدع أحدهم المسؤولين. سنكتب إليك عند اختيار كلمة مرور جديدة: فإن لم تخترها أنت، فأعد تعيينها فورًا.]',
        ],
        sms: 'أنشئ رمز مؤقت لحسابك في {service}. [لم تطلبه؟ {support}|لم تطلبه؟ راقب بريدك.]',
      },
      two_factor_removal: {
        subject: 'سيُوقف التحقق بخطوتين لحسابك في {service}',
        email: [
          'سيحدث ذلك خلال 24 ساعة: قيل لأحد المسؤولين إنك فقدت العامل الثاني.',
          'إذا لم تطلب ذلك، فأبقه مفعّلًا: {link}',
        ],
        sms: 'ستوقف خطوتا {service} خلال 24 ساعة. لم تطلبه؟ أبقهما: {link}',
      },
      two_factor_kept: {
        subject: 'يبقى التحقق بخطوتين لحسابك في {service} مفعّلًا',
        email: ['كان على وشك الإيقاف، لكن العامل الثاني استُخدم للتو.', alarm],
        sms: `بقيت الخطوتان في {service}. ${smsAlarm}`,
      },
      account_exported: {
        subject: 'نُزّلت بياناتك في {service}',
        email: ['أخذ شخص سجّل الدخول إلى حسابك كل ما يُحفظ عنك.', alarm],
        sms: `نزلت نسخة من بياناتك من {service}. ${smsAlarm}`,
      },
      new_device: {
        subject: 'تسجيل دخول جديد إلى حسابك في {service}',
        email: [
          'كان على جهاز جديد أو من مكان جديد.',
          'إن كنت أنت، فلا داعي لفعل شيء. وإن لم تكن أنت، فغيّر كلمة المرور فورًا. وعندها تُطلب الخطوة الثانية مجددًا على كل الأجهزة.',
        ],
        sms: `دخول جديد إلى حسابك في {service}. ${smsAlarm}`,
      },
      operator_prefix_closed: {
        subject: 'أُوقفت الرسائل إلى الأرقام التي تبدأ بـ {about} في {service}',
        email: [
          'لم يُدخل أحد تقريبًا الرموز المرسلة إليها، وهذا يشبه الاحتيال. لن تُرسل إليها رسائل ليوم واحد لمن ليس له حساب.',
        ],
        sms: 'توقفت رسائل {service} إلى {about} ليوم لمن ليس له حساب.',
      },
      operator_wrong_codes: {
        subject: 'رموز خاطئة كثيرة في {service}',
        email: ['أُدخلت خلال دقيقة. ربما يحاول أحدهم تخمين الرموز.'],
        sms: 'رموز خاطئة كثيرة في {service} خلال دقيقة.',
      },
      operator_pool_dry: {
        subject: 'نفدت حصة من الرسائل في {service}',
        email: [
          'هي الحصة {about}. إلى أن تتجدد، تنتظر الرسائل التي تعتمد عليها أو تُرفض. إن لم تتوقع هذا العدد، فربما يتسبب به أحدهم عمدًا.',
        ],
        sms: 'نفدت حصة الرسائل {about} في {service}.',
      },
      operator_gateway_suspended: {
        subject: 'الرموز المرسلة عبر {about} لا تصل في {service}',
        email: [
          'لم يُدخل منها إلا القليل. في الوقت الحالي لا تُستخدم هذه البوابة إلا إذا فشلت البوابات الأخرى.',
        ],
        sms: 'رموز {service} عبر البوابة {about} لا تصل.',
      },
      operator_removal_stopped: {
        subject: 'أبقى صاحب حساب التحقق بخطوتين في {service}',
        email: ['كان فريق الدعم قد طلب إيقافه. ربما خدعه أحدهم: راجع الأحداث من نوع undo.used.'],
        sms: 'منع صاحب حساب في {service} إيقاف التحقق بخطوتين.',
      },
      operator_access_granted: {
        subject: 'وصول جديد إلى إدارة {service}',
        email: [
          'أصبح أحدهم مسؤولًا أو مُنح صلاحيات أكثر، أو أُنشئ رمز وصول للإدارة. إذا لم يفعل ذلك أحد منكم فراجع الأحداث من الأنواع administrator.added و administrator.role_changed و token.created وأزل هذا الوصول.',
        ],
        sms: 'هناك وصول جديد إلى إدارة {service}.',
      },
      operator_accounts_exported: {
        subject: 'صُدّرت حسابات {service} إلى ملف',
        email: [
          'فعل ذلك أحد من يمكنهم تشغيل الأوامر على جهازه. يحتوي الملف على بصمات كلمات المرور وأسرار تطبيقات المصادقة. إذا لم يفعل ذلك أحد منكم فراجع الأحداث من النوع accounts.exported.',
        ],
        sms: 'صُدّرت حسابات {service} إلى ملف.',
      },
      operator_webhook_away: {
        subject: 'لم يستقبل {about} أحداث {service} منذ ساعة',
        email: [
          'لا يضيع شيء ما دامت الأحداث محفوظة: يعيد {service} المحاولة كل 15 ثانية. يوضح الأمر «poterne webhooks try {about}» سبب المشكلة.',
        ],
        sms: 'لا يستجيب {about} لخدمة {service} منذ ساعة.',
      },
      operator_webhook_given_up: {
        subject: 'توقف إرسال حدث إلى {about} من {service}',
        email: [
          'رفضه هذا الرابط طوال أربعة أيام. يوضح الأمر «poterne webhooks waiting {about}» أي حدث هو، ويعيد «poterne webhooks retry {about}» إرساله.',
        ],
        sms: 'توقف {service} عن إرسال حدث إلى {about}.',
      },
      operator_claim_missing: {
        subject: 'تنقص معلومة من رموز الوصول في {service}',
        email: [
          'لا يحمل حساب واحد على الأقل المعلومة {about}، أو أن البيانات كلها أكبر من المسموح به. وحيث تكون مطلوبة لا يستطيع هذا الحساب تسجيل الدخول. يذكر السجل وأمر poterne doctor الحسابات.',
        ],
        sms: '{about} غير موجود في رموز وصول {service}.',
      },
      two_factor_disabled: {
        subject: 'أُوقف التحقق بخطوتين لحسابك في {service}',
        email: ['لم يعد تسجيل الدخول يتطلب خطوة ثانية.', alarm],
        sms: `أوقفت الخطوتان في {service}. ${smsAlarm}`,
      },
      authenticator_changed: {
        subject: 'لحسابك في {service} تطبيق مصادقة جديد',
        email: ['تأتي رموز الدخول الآن منه. أُنشئت رموز استرداد جديدة، ولم تعد القديمة صالحة.', alarm],
        sms: `تغير تطبيق رموزك في {service}. ${smsAlarm}`,
      },
      recovery_code_used: {
        subject: 'استُخدم رمز استرداد لحسابك في {service}',
        email: ['لم يعد صالحًا.[ بقي {left}.]', alarm],
        sms: `استخدم رمز استرداد في {service}. ${smsAlarm}`,
      },
      recovery_codes_replaced: {
        subject: 'رموز استرداد جديدة لحسابك في {service}',
        email: ['لم تعد الرموز القديمة صالحة.', alarm],
        sms: `تغيرت رموز الاسترداد في {service}. ${smsAlarm}`,
      },
      authenticator_lost: {
        subject: 'لم يعد {service} قادرًا على التحقق من رموز تطبيقك',
        email: [
          'السبب تغيير في خادمه. سجّل الدخول برمز استرداد، ثم أضف التطبيق من جديد.',
          'إن لم يبقَ لديك رمز استرداد، فسنرسل إليك رمزًا عند تسجيل الدخول.',
        ],
        sms: 'تطبيق رموزك لا يصلح في {service}. ادخل برمز استرداد.',
      },
      second_factor_failed: {
        subject: 'رموز خاطئة بعد كلمة المرور في {service}',
        email: [
          'أدخلها شخص يعرف كلمة مرورك على جهاز لم تستخدمه من قبل.',
          'إن كنت أنت، فلا داعي لفعل شيء. وإن لم تكن أنت، فغيّر كلمة المرور فورًا. منعه العامل الثاني من الدخول حتى الآن.',
        ],
        sms: 'غيرك عرف كلمة مرورك في {service}؟ غيرها: أدخلت رموز خاطئة.',
      },
      refresh_token_reused: {
        subject: 'أُغلقت جلسة في حسابك في {service}',
        email: [
          'استُخدمت في مكانين في الوقت نفسه، وربما سُرقت: سجّل الدخول من جديد على ذلك الجهاز.',
          'إن لم تتعرف على ذلك، فغيّر كلمة المرور فورًا.',
        ],
        sms: `أغلقت جلسة في {service} احتياطا. ${smsAlarm}`,
      },
      identity_linked: {
        subject: 'طريقة جديدة للدخول إلى حسابك في {service}',
        email: [
          'يمكنك الآن تسجيل الدخول عبر [حسابك في {provider}|حساب خارجي].',
          'إن لم تكن أنت من فعل ذلك، فأزل هذه الطريقة وغيّر كلمة المرور فورًا.',
        ],
        sms: `ربط {service} مع [{provider}|حساب آخر]. ${smsAlarm}`,
      },
      passkey_added: {
        subject: 'أُضيف مفتاح مرور إلى حسابك في {service}',
        email: [
          'يمكنك الآن تسجيل الدخول [بالمفتاح {passkey}|به].',
          'إن لم تكن أنت من فعل ذلك، فأزله وغيّر كلمة المرور فورًا.',
        ],
        sms: `أضيف مفتاح مرور في {service}. ${smsAlarm}`,
      },
      passkey_removed: {
        subject: 'أُزيل مفتاح مرور من حسابك في {service}',
        email: ['لم يعد بإمكانك تسجيل الدخول [بالمفتاح {passkey}|به].', alarm],
        sms: `أزيل مفتاح مرور من {service}. ${smsAlarm}`,
      },
      passkey_copied: {
        subject: 'ربما نُسخ مفتاح مرور لحسابك في {service}',
        email: [
          'رفضنا للتو محاولة دخول يبدو أنها استخدمت نسخة [من {passkey}|منه].',
          'أزل هذا المفتاح وأضف مفتاحًا جديدًا.',
        ],
        sms: 'رفض دخول إلى {service}: ربما نسخ مفتاح المرور. أزله.',
      },
      identity_unlinked: {
        subject: 'أُزيلت طريقة للدخول إلى حسابك في {service}',
        email: ['لم يعد بإمكانك تسجيل الدخول عبر [حسابك في {provider}|حساب خارجي].', alarm],
        sms: `فصل {service} عن [{provider}|حساب آخر]. ${smsAlarm}`,
      },
    },
  },
  undo: {
    title: 'استعادة وسيلة الاتصال',
    about: 'لم تعد {contact} ضمن حسابك في {service}. إن لم تكن أنت من أجرى هذا التغيير، فتراجع عنه هنا.',
    effects:
      'ستُغلق جميع الجلسات، ويُزال ما أُضيف منذ ذلك الحين، ولن تعود كلمة المرور صالحة. ويبقى التحقق بخطوتين كما كان.',
    button: 'استعادة',
    done_title: 'تمت استعادة وسيلة الاتصال',
    done: 'عادت {contact} إلى حسابك في {service}. أُغلقت جميع الجلسات.',
    next: 'لتسجيل الدخول، اطلب كلمة مرور جديدة: سيُرسل رمز إلى {contact}.',
    invalid_title: 'لم يعد هذا الرابط صالحًا',
    invalid: 'إما أنه استُخدم من قبل، أو مضى عليه أكثر من سبعة أيام، أو أنه غير كامل.',
    taken_title: 'لم يتغيّر شيء',
    taken: '{contact} تخص الآن حسابًا آخر في {service}.[ أبلغ المسؤولين عنه: {support}]',
    refused_title: 'يرجى الانتظار',
  },
  mailbox: {
    messages: 'الرسائل',
    is_new: 'جديد',
    title: 'صندوق الرسائل',
    about: 'لا يُرسل شيء إلى الخارج: تصل الرسائل إلى هنا.',
    empty: 'لا توجد رسائل هنا.',
    copy: 'نسخ',
    copied: 'تم النسخ',
    email: 'بريد إلكتروني',
    sms: 'رسالة نصية',
    all: 'كل الرسائل',
    channel: 'نوع الرسالة',
    notice: 'إشعار',
    filter: 'تصفية حسب المستلم أو النص',
    clear: 'إفراغ',
    text_part: 'النص',
    html_part: 'نسخة HTML',
    documentation: 'توثيق الواجهة البرمجية',
    administration: 'الإدارة',
    closed: 'افتح العنوان الذي عرضه poterne عند بدئه: الرموز خلفه.',
  },
  start: {
    to_pages: 'ما يراه الأشخاص: التسجيل والدخول والحساب.',
    to_mailbox: 'كل رسالة كانت ستُرسل، مع رمزها.',
    to_documentation: 'كل عملية في الواجهة، لتجربتها من هنا.',
    to_administration: 'صفحة المالكين والدعم.',
    people: 'أشخاص للتجربة',
    nobody: 'لا أحد بعد: ابدأ بالخيار `--seed` أو أنشئ حسابًا.',
    about_plain: 'يسجّل الدخول مباشرة.',
    about_authenticator_app: 'لديه تطبيق مصادقة.',
    about_locked: 'أقفل أحد المسؤولين حسابه.',
    about_unconfirmed: 'لم يؤكّد حسابه بعد: الرمز في صندوق البريد.',
    about_from_file: 'من ملفك.',
    owner: 'مالك صفحة الإدارة.',
    password: 'كلمة المرور',
    app_code: 'رمز التطبيق الآن',
    sign_in_as: 'تسجيل الدخول باسم {name}',
    application: 'لتطبيقك',
    no_application:
      'لتسجيل الدخول عبر إعادة التوجيه، اكتب في config.toml في المجلد الذي بدأ منه poterne، ثم أعد تشغيله:',
  },
  purposes: {
    confirmation: 'تأكيد الحساب',
    login_code: 'رمز تسجيل الدخول',
    two_factor: 'التحقق بخطوتين',
    step_up: 'تأكيد تغيير',
    password_reset: 'كلمة مرور جديدة',
    email_change: 'بريد إلكتروني جديد',
    phone_change: 'رقم هاتف جديد',
    two_factor_enrolment: 'تفعيل التحقق بخطوتين',
    recovery: 'رمز الدخول المؤقت',
    invitation: 'الدعوة',
  },
  pages: pagesAr,
}
