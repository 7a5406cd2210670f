<?php
// php -S 127.0.0.1:3000 receiver.php: takes the webhooks of poterne. Keep users and ids in your database, not in a file.
$key = base64_decode(substr(getenv('APP_HOOK_SECRET'), strlen('whsec_')));
$store = getenv('STORE') ?: sys_get_temp_dir() . '/receiver.json';

function isSigned(string $key, string $body): bool
{
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) return false;
    $content = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$timestamp.$body";
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', $content, $key, true));
    $signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    return array_filter($signatures, fn ($one) => hash_equals($wanted, $one)) !== [];
}

$body = file_get_contents('php://input');
if (!isSigned($key, $body)) return http_response_code(401);
['type' => $type, 'data' => $data] = json_decode($body, true);
$kept = json_decode(@file_get_contents($store) ?: '{"users": {}, "seen": {}}', true);
$isNew = !isset($kept['seen'][$_SERVER['HTTP_WEBHOOK_ID']]);
if ($isNew && $data['account'] !== null && array_key_exists('account_state', $data))
    $kept['users'][$data['account']] = $data['account_state'];
if ($isNew) error_log("$type {$data['account']} " . ($kept['users'][$data['account']]['email'] ?? '-'));
$kept['seen'][$_SERVER['HTTP_WEBHOOK_ID']] = true;
file_put_contents($store, json_encode($kept), LOCK_EX);
http_response_code(204);
