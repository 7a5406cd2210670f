# python3 receiver.py: takes the webhooks of poterne. Keep users and ids in your database, in one transaction.
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["APP_HOOK_SECRET"].removeprefix("whsec_"))
users, seen = {}, set()

def is_signed(headers, body):
    name, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    digest = hmac.digest(key, f"{name}.{timestamp}.".encode() + body, "sha256")
    wanted = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(one.encode(), wanted) for one in headers.get("webhook-signature", "").split(" "))

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body):
            return self.answer(401)
        event, name = json.loads(body), self.headers["webhook-id"]
        data = event["data"]
        if name not in seen and data["account"] and "account_state" in data:
            users[data["account"]] = data["account_state"]
        if name not in seen:
            print(event["type"], data["account"], (users.get(data["account"]) or {}).get("email") or "-", flush=True)
        seen.add(name)
        self.answer(204)

    def answer(self, status):
        self.send_response_only(status)
        self.end_headers()

ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
