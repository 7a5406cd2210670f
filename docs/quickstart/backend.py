# Needs PyJWT: pip install 'pyjwt[crypto]' in a virtual environment, or apt-get install python3-jwt python3-cryptography.
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER = os.environ.get("POTERNE_URL", "http://127.0.0.1:8080")
keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json")


def verify(authorization):
    """The claims of the access token; raises jwt.PyJWTError where the token is not valid."""
    token = (authorization or "").removeprefix("Bearer ")
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    return jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        algorithms=["ES256"],
        issuer=ISSUER,
        audience=ISSUER,
        options={"require": ["exp", "sub", "sid"]},
    )


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            body = json.dumps({"user": verify(self.headers["Authorization"])["sub"]}).encode()
        except jwt.PyJWTError:
            return self.send_error(401)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Handler).serve_forever()
