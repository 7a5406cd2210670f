"""A client with an authenticator in software, by python3-fido2: adds a passkey to a session and signs in with it.

Takes the address of the service, an access token and an origin; prints the login's answer.
"""

import json
import os
import sys
import urllib.request
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from cryptography.hazmat.backends import default_backend
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.client import ClientData
from fido2.cose import ES256
from fido2.ctap2 import AttestationObject, AttestedCredentialData, AuthenticatorData

service, bearer, refresh_token, origin = sys.argv[1:]
AAGUID = bytes.fromhex("f1d0f1d0f1d0f1d0f1d0f1d0f1d0f1d0")
FLAG = AuthenticatorData.FLAG
PRESENT_AND_VERIFIED = FLAG.USER_PRESENT | FLAG.USER_VERIFIED


def post(operation, body, token=None):
    request = urllib.request.Request(f"{service}/api/v1/auth/{operation}", json.dumps(body).encode())
    request.add_header("content-type", "application/json")
    if token:
        request.add_header("authorization", f"Bearer {token}")
    return json.load(urllib.request.urlopen(request))


def encode(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def credential(response):
    return {"id": encode(credential_id), "rawId": encode(credential_id), "type": "public-key", "response": response}


private_key = ec.generate_private_key(ec.SECP256R1(), default_backend())
credential_id = os.urandom(32)

options = post("passkeys/registration/options", {"refresh_token": refresh_token}, bearer)["options"]
assert {"type": "public-key", "alg": ES256.ALGORITHM} in options["pubKeyCredParams"]
rp_hash = sha256(options["rp"]["id"].encode()).digest()
client_data = ClientData.build(type="webauthn.create", challenge=options["challenge"], origin=origin)
attested = AttestedCredentialData.create(
    AAGUID, credential_id, ES256.from_cryptography_key(private_key.public_key())
)
made = AuthenticatorData.create(rp_hash, PRESENT_AND_VERIFIED | FLAG.ATTESTED, 1, attested)
attestation = AttestationObject.create("none", made, {}).with_string_keys()
post(
    "passkeys/registration",
    {
        "credential": credential(
            {"clientDataJSON": encode(client_data), "attestationObject": encode(attestation)}
        )
    },
    bearer,
)

options_to_sign = post("passkeys/login/options", {})["options"]
client_data = ClientData.build(type="webauthn.get", challenge=options_to_sign["challenge"], origin=origin)
seen = AuthenticatorData.create(rp_hash, PRESENT_AND_VERIFIED, 2, b"")
signature = private_key.sign(seen + client_data.hash, ec.ECDSA(hashes.SHA256()))
answer = post(
    "passkeys/login",
    {
        "credential": credential(
            {
                "clientDataJSON": encode(client_data),
                "authenticatorData": encode(seen),
                "signature": encode(signature),
                "userHandle": encode(decode(options["user"]["id"])),
            }
        )
    },
)
print(json.dumps(answer))
