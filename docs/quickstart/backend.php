<?php
// php -S 127.0.0.1:3000 backend.php: PHP with its openssl extension is enough.

$issuer = getenv('POTERNE_URL') ?: 'http://localhost:8080';
$page = getenv('PAGE_ORIGIN') ?: 'http://localhost:5173';

/** The keys cannot be fetched: an outage is no reason to sign people out. */
class NoKeys extends Exception {}

function base64url(string $text): string
{
    return base64_decode(strtr($text, '-_', '+/'));
}

/** An integer as DER writes it: positive, without leading zeros. */
function derInteger(string $bytes): string
{
    $bytes = ltrim($bytes, "\0");
    if ($bytes === '' || ord($bytes[0]) > 127) $bytes = "\0$bytes";
    return "\x02" . chr(strlen($bytes)) . $bytes;
}

/**
 * What poterne publishes, kept for five minutes in a file beside this one. Nobody but this server may write to that
 * folder: who writes the file decides which tokens are right.
 */
function published(string $issuer): string
{
    $file = __DIR__ . '/.keys.json';
    if (is_file($file) && filemtime($file) > time() - 300) return file_get_contents($file);
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $text = @file_get_contents("$issuer/.well-known/jwks.json", false, $context);
    if ($text === false || !isset(json_decode($text)->keys)) throw new NoKeys();
    $new = tempnam(__DIR__, '.keys');
    file_put_contents($new, $text);
    rename($new, $file);
    clearstatcache();
    return $text;
}

/** The published keys by their id, in PEM. */
function keys(string $issuer): array
{
    $pem = [];
    foreach (json_decode(published($issuer))->keys as $key) {
        // What stands before the point in the public key of a P-256 curve (RFC 5480).
        $prefix = hex2bin('3059301306072a8648ce3d020106082a8648ce3d03010703420004');
        $der = base64_encode($prefix . base64url($key->x) . base64url($key->y));
        $pem[$key->kid] = "-----BEGIN PUBLIC KEY-----\n" . chunk_split($der, 64) . '-----END PUBLIC KEY-----';
    }
    return $pem;
}

/** The claims of the access token; throws where the token is not valid, and `NoKeys` where the keys cannot be fetched. */
function verify(string $authorization, string $issuer): stdClass
{
    $parts = explode('.', preg_replace('/^Bearer +/i', '', $authorization));
    if (count($parts) !== 3) throw new Exception('not a token');
    $header = json_decode(base64url($parts[0]));
    $claims = json_decode(base64url($parts[1]));
    $signature = base64url($parts[2]);
    if (($header->alg ?? '') !== 'ES256' || ($header->typ ?? '') !== 'at+jwt') throw new Exception('not an access token');
    $key = keys($issuer)[$header->kid ?? ''] ?? throw new Exception('unknown key');
    if (strlen($signature) !== 64) throw new Exception('not a signature');
    $integers = derInteger(substr($signature, 0, 32)) . derInteger(substr($signature, 32));
    $der = "\x30" . chr(strlen($integers)) . $integers;
    if (openssl_verify("$parts[0].$parts[1]", $der, $key, OPENSSL_ALGO_SHA256) !== 1) throw new Exception('wrong signature');
    if (($claims->iss ?? '') !== $issuer || ($claims->aud ?? '') !== $issuer) throw new Exception('not for this service');
    if (!isset($claims->sub, $claims->sid) || ($claims->exp ?? 0) <= time()) throw new Exception('not valid any more');
    return $claims;
}

// The page runs at another address, and sends a header of its own: browsers ask first.
header("Access-Control-Allow-Origin: $page");
header('Access-Control-Allow-Headers: authorization');
if ($_SERVER['REQUEST_METHOD'] === 'OPTIONS') {
    http_response_code(204);
    exit;
}

try {
    $claims = verify($_SERVER['HTTP_AUTHORIZATION'] ?? '', $issuer);
    header('Content-Type: application/json');
    echo json_encode(['user' => $claims->sub]);
} catch (NoKeys) {
    http_response_code(503);
} catch (Throwable $error) {
    http_response_code(401);
}
