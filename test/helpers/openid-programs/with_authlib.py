"""Authlib without a framework: prints where the browser goes, reads where it came back, prints who signed in."""
import json
import os
import sys
from urllib.parse import parse_qsl, urlsplit

from authlib.integrations.base_client import BaseApp, FrameworkIntegration, OAuth2Mixin, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session


class Application(OAuth2Mixin, OpenIDMixin, BaseApp):
    client_cls = OAuth2Session


application = Application(
    FrameworkIntegration("poterne"),
    client_id=os.environ["ID"],
    client_secret=os.environ["SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)
asked = application.create_authorization_url(os.environ["REDIRECT"])
print(asked["url"], flush=True)
back = dict(parse_qsl(urlsplit(sys.stdin.readline().strip()).query))
assert back["state"] == asked["state"]
token = application.fetch_access_token(os.environ["REDIRECT"], code=back["code"], code_verifier=asked["code_verifier"])
claims = application.parse_id_token(token, asked["nonce"])
assert application.userinfo(token=token)["sub"] == claims["sub"]
print(json.dumps({"email": claims["email"]}))
