/** Written from docs/openapi.json by `bun run fix`. */

export interface paths {
 register: {
  /**
   * Create an account
   * @description With an e-mail address, a phone number, or both; the code is sent to the e-mail address if there is one.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address */
      email?: string | null;
      /** @description Phone number; a national one is read in accounts.default_country */
      phone?: string | null;
      /** @description 8 to 256 characters, not a common one, not the identifier */
      password?: string;
      /** @description The same password again */
      password_confirmation?: string;
      /** @description What the person says of themselves; nobody verified it. Each at most 200 characters, 2 KiB together; null removes one. Only administration sets `picture` */
      profile?: {
       /** @description The whole name, as it is to be shown */
       name?: string | null;
       /** @description The first name */
       given_name?: string | null;
       /** @description The last name */
       family_name?: string | null;
       /** @description A time zone, such as Europe/London */
       zoneinfo?: string | null;
       /** @description The address of a picture */
       picture?: string | null;
      } | null;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
     };
    };
   };
   responses: {
    /** @description Accepted; `message` tells the person what comes next. */
    201: {
     content: {
      "application/json": components["schemas"]["Accepted"];
     };
    };
   };
  };
 };
 "verify-account": {
  /**
   * Confirm the account with its code
   * @description With `password` the account has that one and no other. With `sign_in` too, the answer also holds access_token, refresh_token and account.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
      /** @description The password that the account will have, whatever registrations named; the rules of register apply */
      password?: string | null;
      /** @description Also open a session, and answer with its tokens; needs `password` in the same call */
      sign_in?: boolean | null;
      /** @description What the person says of themselves; nobody verified it. Each at most 200 characters, 2 KiB together; null removes one. Only administration sets `picture` */
      profile?: {
       /** @description The whole name, as it is to be shown */
       name?: string | null;
       /** @description The first name */
       given_name?: string | null;
       /** @description The last name */
       family_name?: string | null;
       /** @description A time zone, such as Europe/London */
       zoneinfo?: string | null;
       /** @description The address of a picture */
       picture?: string | null;
      } | null;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description The account is confirmed; with `sign_in` the tokens and the account, too. */
    201: {
     content: {
      "application/json": components["schemas"]["AccountConfirmation"];
     };
    };
   };
  };
 };
 "resend-verification": {
  /**
   * Send the confirmation code again
   * @description The same answer for every identifier. A code is sent only for an unconfirmed account.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description Accepted; `message` tells the person what comes next. */
    201: {
     content: {
      "application/json": components["schemas"]["Accepted"];
     };
    };
   };
  };
 };
 "resend-confirmation": {
  /**
   * Send the confirmation code again (the same, by its other name)
   * @description The same answer for every identifier. A code is sent only for an unconfirmed account.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description Accepted; `message` tells the person what comes next. */
    201: {
     content: {
      "application/json": components["schemas"]["Accepted"];
     };
    };
   };
  };
 };
 login: {
  /**
   * Sign in
   * @description 202 if the account has two-factor sign-in: `2fa/verify` completes the login, with the code that was sent or with a code of the authenticator app.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description Password of the account, as it was typed; it is normalized with NFKC before it is compared */
      password: string;
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
      /** @description What `2fa/verify` gave to this device for `trust_device`: with the same `device_fingerprint` it takes the place of the second step. One that does not hold is passed over */
      device_token?: string | null;
     };
    };
   };
   responses: {
    /** @description Signed in: the tokens of the new session, and the account. */
    200: {
     content: {
      "application/json": components["schemas"]["SignedIn"];
     };
    };
    /** @description The password is right, and a second factor is due: `2fa/verify` finishes the login. */
    202: {
     content: {
      "application/json": components["schemas"]["TwoFactorDue"];
     };
    };
   };
  };
 };
 "2fa/request-otp": {
  /**
   * Send a code to sign in with, or to confirm a change with
   * @description The same answer for every identifier. A code is sent only to a confirmed account without an authenticator app; with a valid `login_token` or access token the answer for such an account is `use_another_method`, whose `two_factor.methods` says what serves instead, and the answer says where a code went. With an access token, `identifier` may be absent: the code is sent to the first verified contact of the account and is valid as `otp` of a call that changes how the account is protected.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier?: string | null;
      /** @description From the 202 of the login that this call completes: it proves the first factor, for ten minutes and one session */
      login_token?: string | null;
      channel?: ("email" | "sms") | null;
      /** @description Where `accounts.password` is optional: open an account if nobody has verified the identifier. The answer is the same for everybody */
      create?: boolean | null;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description Accepted. Only with a valid `login_token` or access token more than `message` is there. */
    201: {
     content: {
      "application/json": components["schemas"]["CodeRequested"];
     };
    };
   };
  };
 };
 "2fa/verify": {
  /**
   * Sign in with a code, or finish a login with two factors
   * @description After a 202 of a login: send its `login_token`, and as `otp` the code that was sent, a code of the authenticator app, or a recovery code. Without a login, a code that `2fa/request-otp` sent signs in an account without two factors, unless the operator turned that off (`codes.login = false`).
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
      /** @description Only without `login_token`, for an account with two-factor sign-in: proves the first factor in this call. Clients that keep neither are known by a login of the last 10 minutes: with the same `device_fingerprint`, or from the same address if it named none */
      password?: string | null;
      /** @description From the 202 of the login that this call completes: it proves the first factor, for ten minutes and one session */
      login_token?: string | null;
      /** @description Where `accounts.password` is optional: open an account if nobody has verified the identifier. The answer is the same for everybody */
      create?: boolean | null;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
      /** @description What `2fa/verify` gave to this device for `trust_device`: with the same `device_fingerprint` it takes the place of the second step. One that does not hold is passed over */
      device_token?: string | null;
      /** @description Trust this device, if `two_factor.trust_device` allows it: the answer then has a `device_token`, which takes the place of the second step of later logins here. Without effect for a recovery code, and without `device_fingerprint` */
      trust_device?: boolean | null;
     };
    };
   };
   responses: {
    /** @description Signed in: the tokens of the new session, and the account. */
    200: {
     content: {
      "application/json": components["schemas"]["SignedInByCode"];
     };
    };
    /** @description The password is right, and a second factor is due: `2fa/verify` finishes the login. */
    202: {
     content: {
      "application/json": components["schemas"]["TwoFactorDue"];
     };
    };
   };
  };
 };
 refresh: {
  /**
   * Exchange a refresh token for new tokens
   * @description Each refresh token can be used once. The same one again returns the same successor for 10 seconds to anybody, for 30 seconds to the device of the session (its `device_fingerprint`, or its address if the sign-in named none or an application has the session), and twice a week later than that to its `device_fingerprint`. Otherwise, and once the successor was used, the session ends and the owner is told.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The newest refresh token of the session */
      refresh_token: string;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description The next two tokens of the session. */
    200: {
     content: {
      "application/json": components["schemas"]["Tokens"];
     };
    };
   };
  };
 };
 logout: {
  /**
   * End the session of a refresh token, or of the access token
   * @description The same answer for tokens whose session has ended, and for what is not a token at all. Without any token there is no session to end: 422 `required`.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The newest refresh token of the session */
      refresh_token?: string | null;
     };
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "logout-all": {
  /**
   * End all sessions of the account, including this one
   * @description End all sessions of the account, including this one.
   */
  post: {
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 sessions: {
  /**
   * List the sessions of the account
   * @description An account has at most 100; ended ones are not among them.
   */
  get: {
   responses: {
    /** @description The devices that are signed in. */
    200: {
     content: {
      "application/json": components["schemas"]["Sessions"];
     };
    };
   };
  };
 };
 "sessions/{id}": {
  /**
   * End one session of the account
   * @description End one session of the account.
   */
  delete: {
   parameters: {
    path: {
     /** @description The `id` of the session in the list, a UUID */
     id: string;
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "sessions/{id}/trusted-device": {
  /**
   * Trust the device of a session no longer
   * @description Its next login needs the second step again. The session goes on.
   */
  delete: {
   parameters: {
    path: {
     /** @description The `id` of the session in the list, a UUID */
     id: string;
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "trusted-devices/{id}": {
  /**
   * Trust one device no longer
   * @description Whether the session that made it lives or not. `GET me/security` lists them. Its next login needs the second step again.
   */
  delete: {
   parameters: {
    path: {
     /** @description The `id` of the device in `me/security`, a UUID */
     id: string;
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "sessions/ended": {
  /**
   * Follow which access tokens were ended
   * @description For services that verify access tokens themselves, with a token of administration that has the scope `sessions:watch`.
   */
  get: {
   parameters: {
    query?: {
     /** @description The `cursor` of the answer before; without it, everything that still matters */
     after?: string;
     /** @description Seconds to wait for an entry, at most 25 */
     wait?: string;
    };
   };
   responses: {
    /** @description Oldest first, at most 1,000; after 1,000 ask again at once. */
    200: {
     content: {
      "application/json": components["schemas"]["EndedTokensPage"];
     };
    };
   };
  };
 };
 me: {
  /**
   * Read your account
   * @description Read your account.
   */
  get: {
   responses: {
    /** @description Your account as it is now, and what it carries. */
    200: {
     content: {
      "application/json": components["schemas"]["OwnAccount"];
     };
    };
   };
  };
  /**
   * Delete your account
   * @description At once and for good: its sessions end, and its e-mail address and phone number are free again.
   */
  delete: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
  /**
   * Change your language or your profile
   * @description E-mails and SMS to the account are in this language from now on. Answers of the interface follow Accept-Language as before. `me/security` says which language it is. The profile is what you say of yourself: nobody verifies it, and no message contains it. 120 times an hour.
   */
  patch: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /**
       * @description The language of messages to the owner
       * @enum {string}
       */
      language?: "fr" | "en" | "es" | "pt" | "ar";
      /** @description What the person says of themselves; nobody verified it. Each at most 200 characters, 2 KiB together; null removes one. Only administration sets `picture` */
      profile?: {
       /** @description The whole name, as it is to be shown */
       name?: string | null;
       /** @description The first name */
       given_name?: string | null;
       /** @description The last name */
       family_name?: string | null;
       /** @description A time zone, such as Europe/London */
       zoneinfo?: string | null;
       /** @description The address of a picture */
       picture?: string | null;
      };
      /** @description The version of the terms that you accept: the present one */
      terms?: string;
     };
    };
   };
   responses: {
    /** @description Your account as it is now, and what it carries. */
    200: {
     content: {
      "application/json": components["schemas"]["OwnAccount"];
     };
    };
   };
  };
 };
 "me/security": {
  /**
   * What protects your account
   * @description For a settings page. `passkeys`, `identities` and `sessions` are counts.
   */
  get: {
   responses: {
    /** @description What protects the account, for a settings page. */
    200: {
     content: {
      "application/json": components["schemas"]["Security"];
     };
    };
   };
  };
 };
 "me/export": {
  /**
   * Download everything stored about you
   * @description The session must be less than 5 minutes old, and `X-Refresh-Token` shows that: without it, or later, `reauthentication_required`. Where two factors are on and the session proved one, `X-Otp` proves the second: without it `two_factor_required`. Five times a day. Every verified contact is told.
   */
  get: {
   parameters: {
    header?: {
     /** @description The session's present refresh token; it stays valid */
     "x-refresh-token"?: string;
     /** @description A code of the second factor, in a session that was opened without one: by a trusted device */
     "x-otp"?: string;
    };
   };
   responses: {
    /** @description Everything that is stored about a person. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountExport"];
     };
    };
   };
  };
 };
 events: {
  /**
   * Read the history of your account
   * @description Sign-ins, failed attempts and changes, newest first. `next_cursor` is the `cursor` of the next page, or null. Addresses and devices are forgotten earlier than the events.
   */
  get: {
   parameters: {
    query?: {
     /** @description Items of one page: 1 to 200; default 50 */
     limit?: string;
     /** @description `next_cursor` of the page before */
     cursor?: string;
    };
   };
   responses: {
    /** @description One page of events, newest first. */
    200: {
     content: {
      "application/json": components["schemas"]["EventPage"];
     };
    };
   };
  };
 };
 "me/remove": {
  /**
   * Delete your account
   * @description Does what DELETE does, for clients that send no body with it. At once and for good: its sessions end, and its e-mail address and phone number are free again.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "invitations/accept": {
  /**
   * Join the groups of an invitation
   * @description Groups only, never a role. It costs one use of the invitation, and none where you are in all of its groups already.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The code of the invitation */
      invitation: string;
     };
    };
   };
   responses: {
    /** @description Your account as it is now, and what it carries. */
    200: {
     content: {
      "application/json": components["schemas"]["OwnAccount"];
     };
    };
   };
  };
 };
 "email/change": {
  /**
   * Request a new e-mail address
   * @description A code is sent to the new one; a later request replaces it. An unverified contact of the account is verified in the same way. If it belongs to somebody else, the answer is the same, no code is sent and its owner is told (409 `identifier_taken` with `accounts.reveal_existing` alone).
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The new address */
      email: string;
      /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
      password?: string | null;
      /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
      otp?: string | null;
      /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
      credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
      /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
      refresh_token?: string | null;
     };
    };
   };
   responses: {
    /** @description A code is on its way. */
    201: {
     content: {
      "application/json": components["schemas"]["CodeSent"];
     };
    };
   };
  };
 };
 "email/confirm": {
  /**
   * Verify the new e-mail address
   * @description The contacts verified before are told. Two-factor sign-in stays on, and its codes go to the new one.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
     };
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 "phone/change": {
  /**
   * Request a new phone number
   * @description A code is sent to the new one; a later request replaces it. An unverified contact of the account is verified in the same way. If it belongs to somebody else, the answer is the same, no code is sent and its owner is told (409 `identifier_taken` with `accounts.reveal_existing` alone).
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The new number; a national one is read in accounts.default_country */
      phone: string;
      /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
      password?: string | null;
      /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
      otp?: string | null;
      /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
      credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
      /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
      refresh_token?: string | null;
     };
    };
   };
   responses: {
    /** @description A code is on its way. */
    201: {
     content: {
      "application/json": components["schemas"]["CodeSent"];
     };
    };
   };
  };
 };
 "phone/confirm": {
  /**
   * Verify the new phone number
   * @description The contacts verified before are told. Two-factor sign-in stays on, and its codes go to the new one.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
     };
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 email: {
  /**
   * Remove the own e-mail address
   * @description Refused for the last verified one. It is told, as are the other verified contacts. `password` where the account has one.
   */
  delete: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 "email/remove": {
  /**
   * Remove the own e-mail address
   * @description Does what DELETE does, for clients that send no body with it. Refused for the last verified one. It is told, as are the other verified contacts. `password` where the account has one.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 phone: {
  /**
   * Remove the own telephone number
   * @description Refused for the last verified one. It is told, as are the other verified contacts. `password` where the account has one.
   */
  delete: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 "phone/remove": {
  /**
   * Remove the own telephone number
   * @description Does what DELETE does, for clients that send no body with it. Refused for the last verified one. It is told, as are the other verified contacts. `password` where the account has one.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The account as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["AccountAnswer"];
     };
    };
   };
  };
 };
 "password/forgot": {
  /**
   * Request a code to choose a new password
   * @description The same answer for every identifier. A code is sent if the identifier is verified, or waits for its confirmation.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account */
      identifier: string;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description A code is on its way. */
    201: {
     content: {
      "application/json": components["schemas"]["CodeSent"];
     };
    };
   };
  };
 };
 "password/reset": {
  /**
   * Choose a new password with the code
   * @description Confirms the account if it waited for that, ends all its sessions and does not sign in. Two-factor sign-in stays on.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description E-mail address or phone number of the account; with a temporary access or invitation code its uuid too */
      identifier: string;
      /** @description The code that was sent, or a temporary access or invitation code of an administrator */
      otp: string;
      /** @description 8 to 256 characters, not a common one, not the identifier */
      password: string;
      /** @description The same password again */
      password_confirmation: string;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description The password is the new one. */
    200: {
     content: {
      "application/json": components["schemas"]["PasswordReset"];
     };
    };
   };
  };
 };
 "password/change": {
  /**
   * Change your password
   * @description The other sessions of the account end; this one stays. The owner is told.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
      current_password?: string | null;
      /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
      otp?: string | null;
      /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
      credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
      /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
      refresh_token?: string | null;
      /** @description 8 to 256 characters, not a common one, not the identifier */
      password: string;
      /** @description The same password again */
      password_confirmation: string;
     };
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "2fa/enable": {
  /**
   * Begin to turn on two-factor sign-in
   * @description With sent codes: a code goes to the verified e-mail address, else to the verified telephone number; never by e-mail if the operator does not allow it as a second factor (`two_factor.allow_email`). `method: "email"` or `"sms"` says which of them. With `method: "passkey"`, for an account that has one, two factors are on at once, and the answer is 200 with the recovery codes.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
      password?: string | null;
      /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
      otp?: string | null;
      /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
      credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
      /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
      refresh_token?: string | null;
      method?: ("email" | "sms" | "passkey") | null;
     };
    };
   };
   responses: {
    /** @description Recovery codes for the person to save; they are not shown again. */
    200: {
     content: {
      "application/json": components["schemas"]["RecoveryCodes"];
     };
    };
    /** @description A code is on its way. */
    201: {
     content: {
      "application/json": components["schemas"]["CodeSent"];
     };
    };
   };
  };
 };
 "2fa/enable/confirm": {
  /**
   * Turn on two-factor sign-in with the code that was sent
   * @description Other sessions that were opened with one factor end.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
     };
    };
   };
   responses: {
    /** @description Recovery codes for the person to save; they are not shown again. */
    200: {
     content: {
      "application/json": components["schemas"]["RecoveryCodes"];
     };
    };
   };
  };
 };
 "2fa/totp": {
  /**
   * Set up an authenticator app
   * @description Valid for 30 minutes. An app that is in use stays in use until the new one is confirmed.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description What the app has to scan. Confirm it with its first code. */
    200: {
     content: {
      "application/json": components["schemas"]["AuthenticatorApp"];
     };
    };
   };
  };
 };
 "2fa/totp/confirm": {
  /**
   * Confirm the authenticator app with its first code
   * @description Turns two-factor sign-in on if it was off, and ends other sessions that were opened with one factor. No code is sent to this account any more.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt */
      otp: string;
     };
    };
   };
   responses: {
    /** @description Recovery codes for the person to save; they are not shown again. */
    200: {
     content: {
      "application/json": components["schemas"]["RecoveryCodes"];
     };
    };
   };
  };
 };
 "2fa/disable": {
  /**
   * Turn off two-factor sign-in
   * @description The app and the recovery codes are removed; sessions stay. The owner is told.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 "2fa/recovery-codes": {
  /**
   * Replace the recovery codes
   * @description The old ones are not valid any more, and the owner is told. Two-factor sign-in must be on.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Recovery codes for the person to save; they are not shown again. */
    200: {
     content: {
      "application/json": components["schemas"]["RecoveryCodes"];
     };
    };
   };
  };
 };
 "passkeys/login/options": {
  /**
   * Begin to sign in with a passkey
   * @description The same for everybody: the person chooses the account in the browser.
   */
  post: {
   responses: {
    /** @description The options that the browser needs. */
    200: {
     content: {
      "application/json": components["schemas"]["PasskeyRequestOptions"];
     };
    };
   };
  };
 };
 "passkeys/login": {
  /**
   * Sign in with a passkey
   * @description Counts as both factors, so that no second step follows. `unknown_passkey` names the credential, for the Signal API.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      credential: components["schemas"]["AuthenticationResponseJSON"];
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
     };
    };
   };
   responses: {
    /** @description Signed in: the tokens of the new session, and the account. */
    200: {
     content: {
      "application/json": components["schemas"]["SignedIn"];
     };
    };
   };
  };
 };
 "passkeys/registration/options": {
  /**
   * Begin to add a passkey
   * @description Neither password nor code is needed if the session was opened with them less than five minutes ago and the body has its present `refresh_token`, which stays valid. A passkey that was added in that way signs in at once, and confirms changes after 24 hours.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The options that the browser needs. */
    200: {
     content: {
      "application/json": components["schemas"]["PasskeyCreationOptions"];
     };
    };
   };
  };
 };
 "passkeys/registration": {
  /**
   * Add a passkey
   * @description With the result of the browser for the options that the same session received. The owner is told.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      credential: components["schemas"]["RegistrationResponseJSON"];
      /** @description The name under which the owner sees it; what is longer than 120 characters is cut */
      name?: string | null;
     };
    };
   };
   responses: {
    /** @description The passkey as it is now. */
    201: {
     content: {
      "application/json": components["schemas"]["PasskeyAdded"];
     };
    };
   };
  };
 };
 "passkeys/step-up/options": {
  /**
   * Begin to confirm a change by passkey
   * @description Send the result of the browser as `credential` in the call that asks for password and code, instead of both.
   */
  post: {
   responses: {
    /** @description The options that the browser needs. */
    200: {
     content: {
      "application/json": components["schemas"]["PasskeyRequestOptions"];
     };
    };
   };
  };
 };
 passkeys: {
  /**
   * List your passkeys
   * @description The oldest first.
   */
  get: {
   responses: {
    /** @description The passkeys of the account, and what the browser may be told of them. */
    200: {
     content: {
      "application/json": components["schemas"]["Passkeys"];
     };
    };
   };
  };
 };
 "passkeys/{id}": {
  /**
   * Remove a passkey
   * @description Neither password nor code is needed if the session was opened with them less than five minutes ago and the body has its present `refresh_token`, which stays valid. The owner is told.
   */
  delete: {
   parameters: {
    path: {
     /** @description The `id` of the passkey in the list */
     id: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
  /**
   * Rename a passkey
   * @description The name is for its owner only.
   */
  patch: {
   parameters: {
    path: {
     /** @description The `id` of the passkey in the list */
     id: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description The name under which the owner sees it */
      name: string;
     };
    };
   };
   responses: {
    /** @description The passkey as it is now. */
    200: {
     content: {
      "application/json": components["schemas"]["PasskeyAnswer"];
     };
    };
   };
  };
 };
 "passkeys/{id}/remove": {
  /**
   * Remove a passkey
   * @description Does what DELETE does, for clients that send no body with it. Neither password nor code is needed if the session was opened with them less than five minutes ago and the body has its present `refresh_token`, which stays valid. The owner is told.
   */
  post: {
   parameters: {
    path: {
     /** @description The `id` of the passkey in the list */
     id: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description Done; `message` tells the person. */
    200: {
     content: {
      "application/json": components["schemas"]["Done"];
     };
    };
   };
  };
 };
 social: {
  /**
   * List the providers
   * @description List the providers.
   */
  get: {
   responses: {
    /** @description The providers to offer, in the order of the configuration. */
    200: {
     content: {
      "application/json": components["schemas"]["Providers"];
     };
    };
   };
  };
 };
 "social/{provider}/authorize": {
  /**
   * Begin a sign-in in a browser
   * @description For navigation in a browser; scripts cannot fetch it.
   */
  get: {
   parameters: {
    query: {
     /** @description Exactly one of social.redirect_uris */
     redirect_uri: string;
     /** @description BASE64URL(SHA256(code_verifier)), RFC 7636 */
     code_challenge: string;
     /** @description Returned unchanged */
     state?: string;
    };
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
  };
 };
 "social/{provider}/callback": {
  /**
   * The address to which the provider sends the browser back
   * @description The address to which the provider sends the browser back.
   */
  get: {
   parameters: {
    query?: {
     /** @description The value that the redirect to the provider had */
     state?: string;
     /** @description The provider's code */
     code?: string;
     /** @description The issuer, where the provider names itself */
     iss?: string;
     /** @description The reason, where the provider refused */
     error?: string;
    };
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
  };
  /**
   * The same for a provider that answers with a form
   * @description Apple does so. For browsers: the body is a form.
   */
  post: {
   parameters: {
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/x-www-form-urlencoded": {
      /** @description The value that the redirect to the provider had */
      state?: string;
      /** @description The provider's code */
      code?: string;
      /** @description The issuer, where the provider names itself */
      iss?: string;
      /** @description The reason, where the provider refused */
      error?: string;
     };
    };
   };
  };
 };
 "social/exchange": {
  /**
   * Sign in with the code of the redirect
   * @description Sign in with the code of the redirect.
   */
  post: {
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description From the redirect; 60 s, once */
      code: string;
      /** @description The value from which code_challenge was made */
      code_verifier: string;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
      /** @description What `2fa/verify` gave to this device for `trust_device`: with the same `device_fingerprint` it takes the place of the second step. One that does not hold is passed over */
      device_token?: string | null;
     };
    };
   };
   responses: {
    /** @description Signed in: the tokens of the new session, and the account. */
    200: {
     content: {
      "application/json": components["schemas"]["SignedIn"];
     };
    };
    /** @description The provider identified the person, and a second factor is due. */
    202: {
     content: {
      "application/json": components["schemas"]["SocialTwoFactorDue"];
     };
    };
   };
  };
 };
 "social/{provider}/token": {
  /**
   * Sign in with the identity token of a native app
   * @description Each identity token is accepted once.
   */
  post: {
   parameters: {
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description As the provider gave it to the app */
      id_token: string;
      /** @description As the app gave it to the provider */
      nonce: string;
      /** @description The code of an invitation; it is spent when the account is opened */
      invitation?: string | null;
      /** @description The version of the terms that the person accepts, where `accounts.terms` is set */
      terms?: string | null;
      /** @description Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in. What is longer than 255 characters is cut */
      device_type?: string | null;
      /** @description Device name. What is longer than 255 characters is cut */
      device_name?: string | null;
      /** @description Operating system. What is longer than 255 characters is cut */
      device_os?: string | null;
      /** @description A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random */
      device_fingerprint?: string | null;
      /** @description What `2fa/verify` gave to this device for `trust_device`: with the same `device_fingerprint` it takes the place of the second step. One that does not hold is passed over */
      device_token?: string | null;
     };
    };
   };
   responses: {
    /** @description Signed in: the tokens of the new session, and the account. */
    200: {
     content: {
      "application/json": components["schemas"]["SignedIn"];
     };
    };
    /** @description The provider identified the person, and a second factor is due. */
    202: {
     content: {
      "application/json": components["schemas"]["SocialTwoFactorDue"];
     };
    };
   };
  };
 };
 identities: {
  /**
   * List your linked identities
   * @description List your linked identities.
   */
  get: {
   responses: {
    /** @description The identities that are linked now. */
    200: {
     content: {
      "application/json": components["schemas"]["Identities"];
     };
    };
   };
  };
 };
 "identities/{provider}": {
  /**
   * Link an identity
   * @description With `code` and `code_verifier`, or with `id_token` and `nonce`. Needs the password if the account has one, otherwise a sign-in of the last 5 minutes. With two-factor sign-in it also needs `otp`. The owner is told.
   */
  post: {
   parameters: {
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": {
      /** @description From the redirect of a browser flow */
      code?: string | null;
      /** @description The value from which code_challenge was made */
      code_verifier?: string | null;
      /** @description As the provider gave it to the app */
      id_token?: string | null;
      /** @description As the app gave it to the provider */
      nonce?: string | null;
      /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
      password?: string | null;
      /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
      otp?: string | null;
      /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
      credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
      /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
      refresh_token?: string | null;
     };
    };
   };
   responses: {
    /** @description The identities that are linked now. */
    201: {
     content: {
      "application/json": components["schemas"]["IdentitiesAfterLinking"];
     };
    };
   };
  };
  /**
   * Unlink an identity
   * @description Needs the password if the account has one, otherwise a sign-in of the last 5 minutes. With two-factor sign-in it also needs `otp`. The owner is told.
   */
  delete: {
   parameters: {
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The identities that are linked now. */
    200: {
     content: {
      "application/json": components["schemas"]["Identities"];
     };
    };
   };
  };
 };
 "identities/{provider}/remove": {
  /**
   * Unlink an identity
   * @description Does what DELETE does, for clients that send no body with it. Needs the password if the account has one, otherwise a sign-in of the last 5 minutes. With two-factor sign-in it also needs `otp`. The owner is told.
   */
  post: {
   parameters: {
    path: {
     /** @description Name of the provider, e.g. google */
     provider: string;
    };
   };
   /** @description Unknown fields are ignored. */
   requestBody: {
    content: {
     "application/json": components["schemas"]["OwnerProof"];
    };
   };
   responses: {
    /** @description The identities that are linked now. */
    200: {
     content: {
      "application/json": components["schemas"]["Identities"];
     };
    };
   };
  };
 };
 settings: {
  /**
   * What this server offers
   * @description Rules for passwords, languages, ways to register and sign in, lengths and lifetimes. The same for everybody; a copy may be kept for five minutes.
   */
  get: {
   responses: {
    /** @description What this server offers. */
    200: {
     content: {
      "application/json": components["schemas"]["ClientSettings"];
     };
    };
   };
  };
 };
}
export interface components {
 schemas: {
  /** @description Accepted; `message` tells the person what comes next. */
  Accepted: {
   /** @constant */
   status: 201;
   message: string;
  };
  /** @description The account; times are UTC. */
  Account: {
   failed_attempts: number;
   id: number;
   /** Format: uuid */
   uuid: string;
   email: string | null;
   /** @description E.164, with the leading plus */
   phone: string | null;
   /** @description PHC string. Salt and hash are replaced, unless configured "full" for one that is not imported. Empty without a password */
   password_digest: string;
   accountable_type: string;
   accountable_id: number;
   role_id: number;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   remember_created_at: string | null;
   sign_in_count: number;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   current_sign_in_at: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   last_sign_in_at: string | null;
   current_sign_in_ip: string | null;
   last_sign_in_ip: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   account_confirmed_at: string | null;
   account_confirmed: boolean;
   unlock_token: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   locked_at: string | null;
   two_factor_enabled: boolean;
   /** @description `local`, or the provider with which the account was created */
   provider: string;
   provider_uid: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   created_at: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   updated_at: string;
  };
  /** @description The account as it is now. */
  AccountAnswer: {
   /** @constant */
   status: 200;
   account: components["schemas"]["Account"];
  };
  /** @description The account is confirmed; with `sign_in` the tokens and the account, too. */
  AccountConfirmation: components["schemas"]["AccountConfirmedSignedIn"] | components["schemas"]["AccountConfirmed"];
  /** @description The account is confirmed, and nobody is signed in. */
  AccountConfirmed: {
   /** @constant */
   status: 201;
   message: string;
  };
  /** @description The account is confirmed, and its owner is signed in. */
  AccountConfirmedSignedIn: {
   /** @constant */
   status: 201;
   message: string;
   /** @description JWT (ES256); its keys are at /.well-known/jwks.json */
   access_token: string;
   refresh_token: string;
   account: components["schemas"]["Account"];
  };
  /** @description Everything that is stored about a person. */
  AccountExport: {
   /** @constant */
   status: 200;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   exported_at: string;
   account: components["schemas"]["Account"];
   /** @description What an administrator noted */
   metadata: {
    [key: string]: unknown;
   };
   locked_reason: string | null;
   profile: components["schemas"]["Profile"];
   username: string | null;
   groups: string[];
   /** @description The name of the role, or its number */
   role: string;
   /** @description The version of the terms that was accepted last, if any */
   terms_version?: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   terms_accepted_at?: string;
   language: string;
   /** Format: date-time */
   email_verified_at: string | null;
   /** Format: date-time */
   phone_verified_at: string | null;
   /** Format: date-time */
   password_changed_at: string | null;
   recovery_codes_left: number;
   /** @description Where the account is, and was, signed in */
   sessions: {
    [key: string]: unknown;
   }[];
   /** @description Devices on which a login needs no second step */
   trusted_devices: {
    [key: string]: unknown;
   }[];
   /** @description When each known device and address signed in last */
   known_devices: {
    [key: string]: unknown;
   }[];
   /** @description Passkeys */
   passkeys: {
    [key: string]: unknown;
   }[];
   /** @description Linked identities of other providers */
   identities: {
    [key: string]: unknown;
   }[];
   /** @description When an authenticator app was confirmed */
   authenticator_apps: {
    [key: string]: unknown;
   }[];
   /** @description Changes of a contact that wait for their code */
   contact_changes: {
    [key: string]: unknown;
   }[];
   /** @description Contacts of the last seven days that were replaced or removed */
   replaced_contacts: {
    [key: string]: unknown;
   }[];
   /** @description Open temporary access and invitation codes, without the codes */
   administrators_codes: {
    [key: string]: unknown;
   }[];
   /** @description The role in administration */
   administrators: {
    [key: string]: unknown;
   }[];
   /** @description A removal of two factors that waits */
   two_factor_removals: {
    [key: string]: unknown;
   }[];
   /** @description Messages of the last 30 days, without their codes */
   messages: {
    [key: string]: unknown;
   }[];
   /** @description What happened to the account */
   events: {
    [key: string]: unknown;
   }[];
  };
  /** @description `AuthenticationResponseJSON` of WebAuthn Level 3 */
  AuthenticationResponseJSON: {
   id: string;
   rawId: string;
   /** @constant */
   type: "public-key";
   authenticatorAttachment?: string | null;
   clientExtensionResults?: {
    [key: string]: unknown;
   };
   response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null;
   } & {
    [key: string]: unknown;
   };
  } & {
   [key: string]: unknown;
  };
  /** @description What the app has to scan. Confirm it with its first code. */
  AuthenticatorApp: {
   /** @constant */
   status: 200;
   /** @description Base32, for typing in */
   secret: string;
   /** @description RFC 6238: SHA-1, 6 digits, 30 seconds */
   otpauth_uri: string;
   /** @description `otpauth_uri` as a QR code */
   qr_svg: string;
  };
  /** @description What this server offers. */
  ClientSettings: {
   /** @constant */
   status: 200;
   /** @description The languages of answers and messages (BCP 47) */
   languages: string[];
   /** @description For clients whose `Accept-Language` names none of them */
   default_language: string;
   /** @description Telephone numbers without a country code are read as numbers of this country (ISO 3166) */
   default_country: string;
   registration: {
    /** @description E-mail addresses can be registered: codes can be sent there */
    email: boolean;
    /** @description Telephone numbers can be registered: codes can be sent there */
    phone: boolean;
    /** @description Countries whose numbers receive SMS; null: every country */
    phone_countries: string[] | null;
    /**
     * @description Who may open an account; absent: everybody
     * @enum {string}
     */
    mode?: "invitation" | "closed";
    /** @description E-mail domains that may open an account; absent: all */
    domains?: string[];
    /** @description The version of the terms that has to be accepted; absent: none */
    terms?: string;
   };
   /** @description Counted in Unicode code points after NFKC. No composition rules; common passwords, the identifier and the name of the service are refused as `weak_password` */
   password: {
    /** @description False: people may register without one; absent: they may not */
    required?: boolean;
    minimum_length: number;
    maximum_length: number;
   };
   codes: {
    /** @description A sent code alone signs in an account without two factors */
    sign_in: boolean;
    /** @description Digits of a code */
    length: number;
    /** @description How long a code is valid, in seconds */
    expires_in: number;
    /** @description Wrong attempts after which a code is dead */
    attempts: number;
    /** @description How long a form should wait before it offers another code: codes are sent at this rate, and a few more at once, in seconds */
    resend_after: number;
   };
   two_factor: {
    /** @description Codes by e-mail are accepted as a second factor */
    email: boolean;
   };
   passkeys: {
    enabled: boolean;
    /** @description The relying party; null: passkeys are off */
    rp_id: string | null;
   };
   /** @description Names of the sign-in providers; `GET social` has their addresses */
   providers: string[];
   tokens: {
    /** @description Lifetime of an access token, in seconds */
    access_expires_in: number;
    /** @description How long a session lives without use, in seconds */
    refresh_expires_in: number;
    /** @description How long a session lives at most, in seconds */
    session_expires_in: number;
    /** @description How long the `login_token` of a 202 is valid, in seconds */
    login_token_expires_in: number;
   };
  };
  /** @description Accepted. Only with a valid `login_token` or access token more than `message` is there. */
  CodeRequested: {
   /** @constant */
   status: 201;
   message: string;
   /**
    * @description How the code is sent
    * @enum {string}
    */
   channel?: "email" | "sms";
   /** @description How long the code is valid, in seconds */
   expires_in?: number;
   /** @description The same call again sends another code after this many seconds; 0: at once */
   resend_after?: number;
   /** @description The masked contact of the account, where the call named none and proved who calls */
   sent_to?: string;
  };
  /** @description A code is on its way. */
  CodeSent: {
   /** @constant */
   status: 201;
   message: string;
   /**
    * @description How the code is sent
    * @enum {string}
    */
   channel: "email" | "sms";
   /** @description How long the code is valid, in seconds */
   expires_in: number;
   /** @description The same call again sends another code after this many seconds; 0: at once */
   resend_after: number;
   /** @description The masked contact of the account, where the call named none and proved who calls */
   sent_to?: string;
  };
  /** @description Done; `message` tells the person. */
  Done: {
   /** @constant */
   status: 200;
   message: string;
  };
  /** @description Access tokens that are refused though they have not expired. */
  EndedTokens: {
   /**
    * Format: uuid
    * @description The `sid` of the tokens
    */
   session?: string;
   /**
    * Format: uuid
    * @description The `sub` of the tokens
    */
   account?: string;
   /** @description The `kid` of the tokens */
   key?: string;
   /** @description Only tokens with a smaller `iat`; alone: those of anybody. Unix seconds */
   before?: number;
   /** @description Unix seconds; afterwards the entry can be forgotten */
   until: number;
  };
  /** @description Oldest first, at most 1,000; after 1,000 ask again at once. */
  EndedTokensPage: {
   /** @constant */
   status: 200;
   /** @description From where the next call goes on */
   cursor: string;
   ended: components["schemas"]["EndedTokens"][];
  };
  /** @description Something that happened to an account. */
  Event: {
   id: number;
   /**
    * @description What happened: see docs/events.md. Later versions may add types
    * @enum {string}
    */
   type: "account.registered" | "account.created" | "confirmation.resent" | "account.invited" | "account.viewed" | "accounts.listed" | "accounts.imported" | "accounts.exported" | "account.confirmed" | "account.updated" | "account.locked" | "account.unlocked" | "account.erased" | "account.exported" | "login.succeeded" | "login.failed" | "login.locked_out" | "two_factor.enabled" | "two_factor.disabled" | "two_factor.failed" | "recovery_code.used" | "recovery_codes.replaced" | "passkey.added" | "passkey.removed" | "passkey.used" | "password.changed" | "password.reset_requested" | "password.reset" | "identifier.added" | "identifier.changed" | "identifier.removed" | "invitation.created" | "invitation.revoked" | "invitation.accepted" | "identity.linked" | "identity.unlinked" | "session.started" | "session.ended" | "session.reuse_detected" | "trusted_device.added" | "trusted_device.used" | "trusted_device.removed" | "test_identity.used" | "recovery.created" | "limits.lifted" | "prefix.closed" | "prefix.opened" | "registration.contested" | "administrator.added" | "administrator.removed" | "administrator.role_changed" | "administrator.signed_in" | "administrator.sign_in_failed" | "token.created" | "token.revoked" | "token.refused" | "token.incomplete" | "token.claim_omitted" | "key.rotated" | "key.revoked" | "message.refused" | "message.retried" | "webhook.retried" | "webhook.replayed" | "undo.used" | "backup.created" | "backup.failed" | "backup.restored";
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   created_at: string;
   /** @enum {string} */
   outcome: "success" | "failure";
   /** @description The uuid of the account */
   account: string | null;
   actor: {
    /** @enum {string} */
    type: "account" | "administrator" | "token" | "operator" | "system";
    id: string | null;
    name: string | null;
   };
   session_id: string | null;
   request_id: string | null;
   address: string | null;
   device: string | null;
   /** @description Details, by the type of the event: docs/events.md. Later versions may add some */
   data: {
    /** @description The networks from which the token may come */
    addresses?: string[];
    /** @description How the person was authenticated */
    amr?: string[];
    /** @description The application of the pages to which the session was handed over */
    application?: string;
    /**
     * @description The factor that stopped the removal
     * @enum {string}
     */
    by?: "totp" | "passkey";
    /** @description The size of the backup */
    bytes?: number;
    /** @description Why the session ended (sign_out, sign_out_all, password, two_factor, lock, undo, reuse, too_many, role, application, browser), or why the backup failed */
    cause?: string;
    /**
     * @description How the message was to be sent
     * @enum {string}
     */
    channel?: "email" | "sms" | "application";
    /**
     * @description The code of an administrator that reset the password
     * @enum {string}
     */
    code?: "recovery" | "invitation";
    /**
     * @description The kind of contact
     * @enum {string}
     */
    contact?: "email" | "phone";
    /** @description The kinds of contacts of the new account */
    contacts?: string[];
    /** @description How often it happened within the hour */
    count?: number;
    /** @description Why the message was refused */
    detail?: string | null;
    /** @description The domain of which a new account needs a verified address */
    domain?: string;
    /**
     * Format: date-time
     * @description When the removal of two factors takes effect
     */
    due_at?: string;
    /** @description The only event that the webhook gets again */
    event?: number;
    /** @description How many events the webhook gets again */
    events?: number;
    /**
     * Format: date-time
     * @description When the token, invitation, code or closing expires
     */
    expires_at?: string;
    /** @description The fields that were changed */
    fields?: string[];
    /** @description The file of the backup; null: standard output */
    file?: string | null;
    /** @description The groups of the invitation */
    groups?: string[];
    /** @description The id of the invitation */
    invitation?: string;
    /** @description The id of the signing key */
    kid?: string;
    /**
     * Format: date-time
     * @description When the restored backup was made
     */
    made_at?: string;
    /** @description The id of the message */
    message?: number;
    /**
     * @description The factor with which two factors were turned on
     * @enum {string}
     */
    method?: "code" | "totp" | "passkey";
    /** @description The name of the token */
    name?: string;
    /** @description The id of the passkey */
    passkey?: string;
    /** @description The provider */
    provider?: string;
    /** @description What the message was for */
    purpose?: string;
    /** @description The code also removes the second factors */
    remove_factors?: boolean;
    /** @description The restored database took the place of another one */
    replaced?: boolean;
    /** @description The role of the administrator */
    role?: string;
    /** @description What the telephone numbers begin with that were closed or opened */
    prefix?: string;
    /** @description Why the prefix was closed */
    reason?: string;
    /** @description The role of the accounts that the invitation opens */
    role_id?: number;
    /** @description The rows in the backup */
    rows?: number;
    /** @description The scopes of the token */
    scopes?: string[];
    /** @description How the code was sent; null: the administrator was shown it */
    sent_by?: ("email" | "sms") | null;
    /**
     * Format: date-time
     * @description What happened from then on is told again
     */
    since?: string;
    /**
     * @description What was stopped before it took effect
     * @enum {string}
     */
    stopped?: "two_factor_removal";
    /** @description The id of the token of administration */
    token?: string;
    /**
     * Format: date-time
     * @description Access tokens of the account that were signed before it are refused
     */
    tokens_before?: string;
    /** @description How often the invitation can be used */
    uses?: number;
    /** @description An administrator says that the contact is verified */
    verified?: boolean;
    /** @description What was wrong with the backup, though it was made */
    warning?: string;
    /** @description The role before */
    was?: string;
    /** @description The name of the webhook */
    webhook?: string;
   } & {
    [key: string]: unknown;
   };
  };
  /** @description One page of events, newest first. */
  EventPage: {
   /** @constant */
   status: 200;
   items: components["schemas"]["Event"][];
   next_cursor: string | null;
  };
  /** @description The identities that are linked now. */
  Identities: {
   /** @constant */
   status: 200;
   identities: components["schemas"]["Identity"][];
  };
  /** @description The identities that are linked now. */
  IdentitiesAfterLinking: {
   /** @constant */
   status: 201;
   identities: components["schemas"]["Identity"][];
  };
  /** @description A sign-in through a provider, linked to the account. */
  Identity: {
   provider: string;
   /** @description The id of the person at the provider */
   provider_uid: string;
   /** @description As the provider gave it when it was linked */
   email: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   created_at: string;
  };
  /** @description Your account as it is now, and what it carries. */
  OwnAccount: {
   /** @constant */
   status: 200;
   account: components["schemas"]["Account"];
   /** @description Null if the account has no e-mail address */
   email_verified: boolean | null;
   /** @description Null if the account has no telephone number */
   phone_verified: boolean | null;
   profile: components["schemas"]["Profile"];
   username: string | null;
   groups: string[];
   /** @description The name of the role, or its number */
   role: string;
   /** @description The version of the terms that was accepted last, if any */
   terms_version?: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   terms_accepted_at?: string;
  };
  OwnerProof: {
   /** @description Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that */
   password?: string | null;
   /** @description Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token */
   otp?: string | null;
   /** @description Instead of both: the signature of a passkey over the options of `passkeys/step-up/options` */
   credential?: components["schemas"]["AuthenticationResponseJSON"] | null;
   /** @description The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid */
   refresh_token?: string | null;
  };
  /** @description A passkey of the account. */
  Passkey: {
   /** Format: uuid */
   id: string;
   name: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   created_at: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   last_used_at: string | null;
   /** @description Whether it is synced, so that it is not lost with the device */
   backed_up: boolean;
   transports: string[];
   /** @description The kind of authenticator that holds it */
   aaguid: string;
  };
  /** @description The passkey as it is now. */
  PasskeyAdded: {
   /** @constant */
   status: 201;
   passkey: components["schemas"]["Passkey"];
  };
  /** @description The passkey as it is now. */
  PasskeyAnswer: {
   /** @constant */
   status: 200;
   passkey: components["schemas"]["Passkey"];
  };
  /** @description The options that the browser needs. */
  PasskeyCreationOptions: {
   /** @constant */
   status: 200;
   /** @description `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3 */
   options: {
    /** @description Base64url; valid for five minutes, once */
    challenge: string;
   } & {
    [key: string]: unknown;
   };
  };
  /** @description The options that the browser needs. */
  PasskeyRequestOptions: {
   /** @constant */
   status: 200;
   /** @description `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3 */
   options: {
    /** @description Base64url; valid for five minutes, once */
    challenge: string;
   } & {
    [key: string]: unknown;
   };
  };
  /** @description The passkeys of the account, and what the browser may be told of them. */
  Passkeys: {
   /** @constant */
   status: 200;
   passkeys: components["schemas"]["Passkey"][];
   /** @description For `PublicKeyCredential.signalAllAcceptedCredentials` */
   signal: {
    rp_id: string;
    /** @description Base64url; null if there is no passkey */
    user_id: string | null;
    credential_ids: string[];
   };
  };
  /** @description The password is the new one. */
  PasswordReset: {
   /** @constant */
   status: 200;
   message: string;
   /** @description What went because a session had added it within the last seven days, after the contact of this reset was verified. Show the person their account again where it is not empty */
   removed: ("email" | "phone" | "identity" | "passkey")[];
  };
  /** @description What the person says of themselves; nobody verified it. */
  Profile: {
   name?: string;
   given_name?: string;
   family_name?: string;
   zoneinfo?: string;
   picture?: string;
  };
  /** @description The providers to offer, in the order of the configuration. */
  Providers: {
   /** @constant */
   status: 200;
   providers: {
    name: string;
    /** @description The address to which the browser is sent first */
    authorize_url: string;
   }[];
  };
  /** @description Recovery codes for the person to save; they are not shown again. */
  RecoveryCodes: {
   /** @constant */
   status: 200;
   /** @description Ten codes, each of which replaces a code once. They are shown only here, and older ones are not valid any more */
   recovery_codes: string[];
  };
  /** @description `RegistrationResponseJSON` of WebAuthn Level 3 */
  RegistrationResponseJSON: {
   id: string;
   rawId: string;
   /** @constant */
   type: "public-key";
   authenticatorAttachment?: string | null;
   clientExtensionResults?: {
    [key: string]: unknown;
   };
   response: {
    clientDataJSON: string;
    attestationObject: string;
    transports?: string[];
   } & {
    [key: string]: unknown;
   };
  } & {
   [key: string]: unknown;
  };
  /** @description What protects the account, for a settings page. */
  Security: {
   /** @constant */
   status: 200;
   /** @description Null if the account has no e-mail address */
   email_verified: boolean | null;
   /** @description Null if the account has no telephone number */
   phone_verified: boolean | null;
   /**
    * Format: date-time
    * @description Null where it is not verified, or there is none
    */
   email_verified_at: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   phone_verified_at: string | null;
   has_password: boolean;
   /** @description The language of messages to the owner */
   language: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   last_password_change_at: string | null;
   two_factor: {
    enabled: boolean;
    /** @description The methods that can be used now, in this order. `recovery_code` is listed wherever some are left */
    methods: components["schemas"]["TwoFactorMethod"][];
    recovery_codes_left: number;
    /**
     * Format: date-time
     * @description When two-factor sign-in will be turned off, because administrators were told that every factor is lost: only there while that waits. A right code of the app or a passkey stops it, as the link in the notice does.
     */
    removal_at?: string;
   };
   passkeys: number;
   identities: number;
   sessions: number;
   /** @description The devices on which a login needs no second step, newest first; at most ten */
   trusted_devices: {
    /** Format: uuid */
    id: string;
    /** @description As the device named itself at a sign-in */
    name: string | null;
    /**
     * Format: date-time
     * @description ISO 8601, UTC, milliseconds
     */
    created_at: string;
    /**
     * Format: date-time
     * @description ISO 8601, UTC, milliseconds
     */
    last_used_at: string | null;
   }[];
   /**
    * Format: date-time
    * @description Only where a mail server refused the e-mail address for good within the last day: the address may be wrong.
    */
   email_refused_at?: string;
  };
  /** @description A device that is signed in. */
  Session: {
   /** Format: uuid */
   id: string;
   device_type: string | null;
   device_name: string | null;
   device_os: string | null;
   /** @description The address of its last refresh */
   ip: string | null;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   created_at: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   last_used_at: string;
   /**
    * Format: date-time
    * @description ISO 8601, UTC, milliseconds
    */
   expires_at: string;
   /** @description The application to which the pages handed it over; absent: it is a sign-in */
   application?: string;
   /** @description Whether it is the session of this access token */
   current: boolean;
   /** @description Whether a login on its device needs no second step (`device_token`); only there where the operator lets devices be trusted */
   trusted_device?: boolean;
  };
  /** @description The devices that are signed in. */
  Sessions: {
   /** @constant */
   status: 200;
   sessions: components["schemas"]["Session"][];
  };
  /** @description Signed in: the tokens of the new session, and the account. */
  SignedIn: {
   /** @constant */
   status: 200;
   /** @description JWT (ES256); its keys are at /.well-known/jwks.json */
   access_token: string;
   refresh_token: string;
   account: components["schemas"]["Account"];
  };
  /** @description Signed in: the tokens of the new session, and the account. */
  SignedInByCode: {
   /** @constant */
   status: 200;
   /** @description JWT (ES256); its keys are at /.well-known/jwks.json */
   access_token: string;
   refresh_token: string;
   account: components["schemas"]["Account"];
   /** @description Only where `trust_device` was true and the device is trusted now */
   device_token?: string;
  };
  /** @description The provider identified the person, and a second factor is due. */
  SocialTwoFactorDue: {
   /** @constant */
   status: 202;
   /** @constant */
   code: "two_factor_required";
   message: string;
   two_factor: {
    /** @description The methods that can be used now, in this order. `recovery_code` is listed wherever some are left */
    methods: components["schemas"]["TwoFactorMethod"][];
    /** @description Null if no code was sent */
    sent_to: string | null;
    /** @description Seconds */
    expires_in: number;
    /** @description Proves the first factor in `2fa/verify`, for 10 minutes and one session */
    login_token: string;
    /** @description The `identifier` for `2fa/verify` and `2fa/request-otp` */
    identifier: string;
   };
  };
  /** @description The next two tokens of the session. */
  Tokens: {
   /** @constant */
   status: 200;
   /** @description JWT (ES256); its keys are at /.well-known/jwks.json */
   access_token: string;
   refresh_token: string;
  };
  /** @description The password is right, and a second factor is due: `2fa/verify` finishes the login. */
  TwoFactorDue: {
   /** @constant */
   status: 202;
   /** @constant */
   code: "two_factor_required";
   message: string;
   two_factor: {
    /** @description The methods that can be used now, in this order. `recovery_code` is listed wherever some are left */
    methods: components["schemas"]["TwoFactorMethod"][];
    /** @description Null if no code was sent */
    sent_to: string | null;
    /** @description Seconds */
    expires_in: number;
    /** @description Proves the first factor in `2fa/verify`, for 10 minutes and one session */
    login_token: string;
   };
  };
  /**
   * @description A method for the second factor.
   * @enum {string}
   */
  TwoFactorMethod: "passkey" | "totp" | "email" | "sms" | "recovery_code";
 };
}
export type Accepted = components['schemas']['Accepted'];
export type Account = components['schemas']['Account'];
export type AccountAnswer = components['schemas']['AccountAnswer'];
export type AccountConfirmation = components['schemas']['AccountConfirmation'];
export type AccountConfirmed = components['schemas']['AccountConfirmed'];
export type AccountConfirmedSignedIn = components['schemas']['AccountConfirmedSignedIn'];
export type AccountExport = components['schemas']['AccountExport'];
export type AuthenticationResponseJson = components['schemas']['AuthenticationResponseJSON'];
export type AuthenticatorApp = components['schemas']['AuthenticatorApp'];
export type ClientSettings = components['schemas']['ClientSettings'];
export type CodeRequested = components['schemas']['CodeRequested'];
export type CodeSent = components['schemas']['CodeSent'];
export type Done = components['schemas']['Done'];
export type EndedTokens = components['schemas']['EndedTokens'];
export type EndedTokensPage = components['schemas']['EndedTokensPage'];
export type Event = components['schemas']['Event'];
export type EventPage = components['schemas']['EventPage'];
export type Identities = components['schemas']['Identities'];
export type IdentitiesAfterLinking = components['schemas']['IdentitiesAfterLinking'];
export type Identity = components['schemas']['Identity'];
export type OwnAccount = components['schemas']['OwnAccount'];
export type OwnerProof = components['schemas']['OwnerProof'];
export type Passkey = components['schemas']['Passkey'];
export type PasskeyAdded = components['schemas']['PasskeyAdded'];
export type PasskeyAnswer = components['schemas']['PasskeyAnswer'];
export type PasskeyCreationOptions = components['schemas']['PasskeyCreationOptions'];
export type PasskeyRequestOptions = components['schemas']['PasskeyRequestOptions'];
export type Passkeys = components['schemas']['Passkeys'];
export type PasswordReset = components['schemas']['PasswordReset'];
export type Profile = components['schemas']['Profile'];
export type Providers = components['schemas']['Providers'];
export type RecoveryCodes = components['schemas']['RecoveryCodes'];
export type RegistrationResponseJson = components['schemas']['RegistrationResponseJSON'];
export type Security = components['schemas']['Security'];
export type Session = components['schemas']['Session'];
export type Sessions = components['schemas']['Sessions'];
export type SignedIn = components['schemas']['SignedIn'];
export type SignedInByCode = components['schemas']['SignedInByCode'];
export type SocialTwoFactorDue = components['schemas']['SocialTwoFactorDue'];
export type Tokens = components['schemas']['Tokens'];
export type TwoFactorDue = components['schemas']['TwoFactorDue'];
export type TwoFactorMethod = components['schemas']['TwoFactorMethod'];
