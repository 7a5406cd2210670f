# python3 backend-session.py: an application whose pages are drawn by the server, with Python's own library alone. The browser gets a
# cookie, and never a token.
import base64
import hashlib
import html
import json
import os
import secrets
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

POTERNE = os.environ.get("POTERNE_URL", "http://localhost:8080")
OWN = os.environ.get("APP_URL", "http://localhost:3000")
CLIENT_ID = os.environ.get("CLIENT_ID", "web")


class Refused(Exception):
    """poterne says no. What has another reason, such as an outage, signs nobody out."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error}")
        self.status, self.error = status, error


def ask(path, visitor, form=None, token=None):
    """poterne counts tries by the address of the person, and believes this server because `server.trusted_proxies` lists it."""
    headers = {"X-Forwarded-For": visitor}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    body = None if form is None else urllib.parse.urlencode(form).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(POTERNE + path, body, headers), timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        print(error.code, answer.get("error_description") or answer["message"])
        raise Refused(error.code, answer.get("error"))


class Session:
    """In the memory of this process: a restart signs everybody out here, and several processes need a store that they share."""

    def __init__(self, **values):
        self.tokens, self.verifier, self.state = None, None, None
        self.__dict__.update(values)
        self.refreshing = threading.Lock()

    def account(self, visitor):
        """Who is signed in; None where the session is over."""
        used = self.tokens["access_token"]
        try:
            return ask("/api/v1/auth/me", visitor, token=used)["account"]
        except Refused as refusal:
            if refusal.status != 401:
                raise
        try:
            # The refresh token works once: whoever else needs it meanwhile waits, and finds the new tokens.
            with self.refreshing:
                if self.tokens["access_token"] == used:
                    form = {"grant_type": "refresh_token", "client_id": CLIENT_ID, "refresh_token": self.tokens["refresh_token"]}
                    self.tokens = ask("/oauth2/token", visitor, form)
            return ask("/api/v1/auth/me", visitor, token=self.tokens["access_token"])["account"]
        except Refused as refusal:
            if refusal.error == "invalid_grant" or refusal.status == 401:
                return None
            raise


sessions = {}


class Application(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"/": self.home, "/sign-in": self.sign_in, "/signed-in": self.signed_in})

    def do_POST(self):
        self.answer({"/sign-out": self.sign_out})

    def answer(self, routes):
        address = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(address.query))
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get("session")
        except CookieError:
            cookie = None
        self.id = cookie.value if cookie else None
        self.session = sessions.get(self.id)
        # Behind a reverse proxy of your own the address of the person is in its X-Forwarded-For.
        self.visitor = self.client_address[0]
        try:
            routes.get(address.path, lambda: self.page("Not found.", 404))()
        except (Refused, OSError):
            self.page('<p>Not now.</p><a href="/">Try again</a>', 503)

    def home(self):
        account = self.session.account(self.visitor) if self.session and self.session.tokens else None
        if account is None:
            if self.session and self.session.tokens:
                sessions.pop(self.id, None)
            return self.page('<p>Not signed in.</p><a href="/sign-in">Sign in</a>')
        name = html.escape(account["email"] or account["phone"])
        self.page(f'<p>Hello {name}.</p><form method="post" action="/sign-out"><button>Sign out</button></form>')

    def sign_in(self):
        verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        request = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": f"{OWN}/signed-in",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": state,
        }
        self.go(f"{POTERNE}/oauth2/authorize?{urllib.parse.urlencode(request)}", Session(verifier=verifier, state=state))

    def signed_in(self):
        begun, query = self.session, self.query
        if not begun or not begun.state or (query.get("state"), query.get("iss")) != (begun.state, POTERNE):
            return self.go("/")
        # A new name: nobody who knew the one before gets in with it.
        sessions.pop(self.id, None)
        if "code" not in query:
            return self.page(html.escape(query.get("error_description", "Nobody signed in.")), 403)
        form = {
            "grant_type": "authorization_code",
            "client_id": CLIENT_ID,
            "redirect_uri": f"{OWN}/signed-in",
            "code": query["code"],
            "code_verifier": begun.verifier,
        }
        self.go("/", Session(tokens=ask("/oauth2/token", self.visitor, form)))

    def sign_out(self):
        """It also ends the browser's session with poterne, and with it what that session handed over to other applications."""
        sessions.pop(self.id, None)
        back = urllib.parse.urlencode({"client_id": CLIENT_ID, "post_logout_redirect_uri": f"{OWN}/"})
        self.go(f"{POTERNE}/oauth2/sign-out?{back}")

    def page(self, content, status=200):
        body = content.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def go(self, to, session=None):
        self.send_response(303)
        self.send_header("Location", to)
        if session:
            id = secrets.token_urlsafe(32)
            sessions[id] = session
            secure = "; Secure" if OWN.startswith("https:") else ""
            self.send_header("Set-Cookie", f"session={id}; Path=/; HttpOnly; SameSite=Lax{secure}")
        self.send_header("Content-Length", "0")
        self.end_headers()


port = urllib.parse.urlsplit(OWN).port or 3000
ThreadingHTTPServer(("127.0.0.1", port), Application).serve_forever()
