# Needs PyJWT: pip install 'pyjwt[crypto]' in a virtual environment, or apt-get install python3-jwt python3-cryptography.
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER = os.environ.get("POTERNE_URL", "http://localhost:8080")
PAGE = os.environ.get("PAGE_ORIGIN", "http://localhost:5173")


class NoKeys(Exception):
    """The keys cannot be fetched: an outage is no reason to sign people out."""


class Keys(jwt.PyJWKClient):
    """It keeps the keys for five minutes."""

    def fetch_data(self):
        try:
            return super().fetch_data()
        except (jwt.PyJWKClientError, ValueError) as error:
            raise NoKeys from error


keys = Keys(f"{ISSUER}/.well-known/jwks.json", lifespan=300)


def verify(authorization):
    """The claims of the access token; raises jwt.PyJWTError where the token is not valid, and NoKeys."""
    token = re.sub("^Bearer +", "", authorization or "", flags=re.IGNORECASE)
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    return jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        algorithms=["ES256"],
        issuer=ISSUER,
        audience=ISSUER,
        # A clock of this machine that is a little behind.
        leeway=5,
        options={"require": ["exp", "sub", "sid"]},
    )


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            body = json.dumps({"user": verify(self.headers["Authorization"])["sub"]}).encode()
        except NoKeys:
            return self.send_error(503)
        except jwt.PyJWTError:
            return self.send_error(401)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.send_response(204)
        self.end_headers()

    def end_headers(self):
        # The page runs at another address, and sends a header of its own: browsers ask first.
        self.send_header("Access-Control-Allow-Origin", PAGE)
        self.send_header("Access-Control-Allow-Headers", "authorization")
        super().end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Handler).serve_forever()
