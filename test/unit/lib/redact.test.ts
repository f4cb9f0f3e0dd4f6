import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { redact } from '../../../src/lib/redact.ts';

const table: { name: string; text: string; want: string }[] = [
  { name: 'a variable', text: 'DB_PASSWORD=hunter2 next', want: 'DB_PASSWORD=[redacted] next' },
  { name: 'a value with separators in it', text: 'Password=a;b&c,d Database=shop', want: 'Password=[redacted] Database=shop' },
  { name: 'YAML', text: 'apiKey: abc', want: 'apiKey: [redacted]' },
  { name: 'JSON', text: '{"password":"a b \\" c","msg":"down"}', want: '{"password":[redacted],"msg":"down"}' },
  { name: 'JSON within JSON', text: '{\\"password\\":\\"a b\\",\\"msg\\":\\"down\\"}', want: '{\\"password\\":[redacted],\\"msg\\":\\"down\\"}' },
  { name: 'a number in JSON', text: '{"pin_token": 1234,"msg":"down"}', want: '{"pin_token": [redacted],"msg":"down"}' },
  { name: 'a quote that never closes', text: 'secret="cut off he', want: 'secret=[redacted]' },
  { name: 'an argument', text: 'exec app --db-password hunter2 --port 80', want: 'exec app --db-password [redacted] --port 80' },
  { name: 'an argument with one dash', text: 'app -token abc', want: 'app -token [redacted]' },
  { name: 'an argument in quotes', text: 'args ["--api-key abc"]', want: 'args ["--api-key [redacted]' },
  { name: 'secrets that are no number of them', text: '{"secrets":"12ab"} secrets=s3cr3t', want: '{"secrets":[redacted]} secrets=[redacted]' },
  { name: 'secrets of somebody, though they look like a number', text: 'client_secrets=123456 app-secrets: 1234', want: 'client_secrets=[redacted] app-secrets: [redacted]' },
  { name: 'JSON with spaces', text: '{"password" : "hunter2"}', want: '{"password" : [redacted]}' },
  { name: 'a header', text: 'Authorization: Digest username="a", response="b"\nok', want: 'Authorization: [redacted]\nok' },
  { name: 'cookies', text: 'Set-Cookie: a=b; c=d', want: 'Set-Cookie: [redacted]' },
  { name: 'a pair', text: 'login token:abc123 ok', want: 'login token:[redacted] ok' },
  { name: 'a connection string', text: 'dial postgres://app:p@ss/w0rd@db:5432/shop failed', want: 'dial postgres://[redacted]@db:5432/shop failed' },
  { name: 'one without a user', text: 'redis://:pw@cache:6379', want: 'redis://[redacted]@cache:6379' },
  { name: 'a connection string that was cut off', text: 'dial postgres://app:hunter2-s3c', want: 'dial postgres://[redacted]' },
  { name: "Go's MySQL", text: 'open app:hunter2@tcp(db:3306)/shop', want: 'open [redacted]@tcp(db:3306)/shop' },
  { name: 'an e-mail address', text: 'no such user ada@example.com here', want: 'no such user [email] here' },
  { name: 'a key whose begin is missing', text: 'MIIEow\nAbCd\n-----END RSA PRIVATE KEY-----\nbye', want: '[redacted]\nbye' },
  { name: 'a key whose end is missing', text: 'hi\n-----BEGIN PRIVATE KEY-----\nMIIEow', want: 'hi\n[redacted]' },
  { name: 'our own token', text: 'https://api.telegram.org/bot123456789:AAF-abcdefghijklmnopqrstuvwxyz0123', want: 'https://api.telegram.org/bot[redacted]' },
  { name: 'a password in a log', text: 'login as ada with password hunter2 failed', want: 'login as ada with password [redacted] failed' },
  { name: 'a password in a sentence', text: 'the password is hunter2, sorry', want: 'the password is [redacted] sorry' },
  { name: 'one that looks like a word', text: 'Password was correcthorse', want: 'Password was [redacted]' },
  { name: 'one that looks like what is said of passwords', text: 'password is "expired"', want: 'password is [redacted]' },
  { name: 'one in quotes', text: 'password "correct horse" rejected', want: 'password [redacted] rejected' },
  { name: 'one in parentheses', text: 'FATAL: no entry for user "ada" (password hunter2)', want: 'FATAL: no entry for user "ada" (password [redacted]' },
  { name: 'a token in a sentence', text: 'Bearer token hunter2 expired', want: 'Bearer token [redacted] expired' },
  { name: 'a key in a sentence', text: 'API key hunter2abc is invalid', want: 'API key [redacted] is invalid' },
  { name: 'curl -u', text: 'exec curl -u ada:hunter2 https://x', want: 'exec curl -u ada:[redacted] https://x' },
  { name: 'curl -u with short ones', text: 'curl -u a:b https://x', want: 'curl -u a:[redacted] https://x' },
  { name: 'curl -u with a number', text: 'curl -u root:1234 https://x', want: 'curl -u root:[redacted] https://x' },
  { name: 'curl --user', text: 'exec curl --user=ada:hunter2 https://x', want: 'exec curl --user=ada:[redacted] https://x' },
  { name: 'mysql -p', text: 'mysqladmin ping -h db -pswordfish', want: 'mysqladmin ping -h db -p[redacted]' },
  { name: '-p of another program', text: 'sh -c "tool -pSECRET status"', want: 'sh -c "tool -p[redacted] status"' },
  { name: 'a field of a log', text: 'Config{dbUser=ada, dbPass=hunter2}', want: 'Config{dbUser=ada, dbPass=[redacted]' },
  { name: "Oracle's", text: 'connect ada/hunter2@//db:1521/XE', want: 'connect ada/[redacted]@//db:1521/XE' },
  { name: 'sixty-four hexadecimal digits', text: `key ${'0123456789abcdef'.repeat(4)} refused`, want: 'key [redacted] refused' },
  { name: 'and in capitals', text: `${'0123456789ABCDEF'.repeat(4)}.`, want: '[redacted].' },
  { name: 'a hook that kubelet quotes', text: 'Exec lifecycle hook ([sh -c curl x swordfish]) for Container "app" failed', want: 'Exec lifecycle hook ([redacted]) for Container "app" failed' },
  { name: 'a probe that kubelet quotes', text: 'Liveness probe errored: command "check swordfish" timed out', want: 'Liveness probe errored: command "[redacted]" timed out' },
  { name: 'a query that kubelet quotes', text: 'Readiness probe failed: Get "http://10.0.0.1:80/x?a=swordfish": EOF', want: 'Readiness probe failed: Get "http://10.0.0.1:80/x?[redacted]": EOF' },
  { name: 'a value that the API server quotes', text: 'spec.template.spec.containers[0].env[2].value: Invalid value: "swordfish": must be short', want: 'spec.template.spec.containers[0].env[2].value: Invalid value: [redacted]: must be short' },
  { name: 'a name with something invisible in it', text: 'pass\u200bword=hunter2 pa\u{e0041}ssword: swordfish', want: 'password=[redacted] password: [redacted]' },
]; // prettier-ignore
for (const { name, text, want } of table) test(`taken out: ${name}`, () => assert.equal(redact(text), want));

const harmless = [
  'FATAL: password authentication failed for user "ada"',
  'token expired after 30 minutes',
  'unexpected token at line 12',
  'the password is not set; its token was revoked, the secret is mounted',
  'run --user 1000:1000 -p 8080:80 -p8080:80/tcp -parallel -profile=x mkdir -p /data',
  'pulled shop/checkout:1.42 in 3s',
  'listening on 0.0.0.0:8080, pass --help for more',
  'spec.replicas: Invalid value: 60: must be less than or equal to 50',
  'commit 0123456789abcdef0123456789abcdef01234567, pod-template-hash 7d9f8b6c5d',
  'containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  'password authentication failed for user "app"',
  'the token is expired',
  'no basic auth credentials, basic authentication is off',
  'secret "nope" not found',
  'failed to sync secret cache: timed out waiting for the condition',
  'Head "https://registry:5000/v2/app/manifests/1.0": dial tcp 127.0.0.1:5000: connect: connection refused',
  'image shop/app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  'pod task-runner-with-a-very-long-name-7d9f8b6c5d-x2x4z on disk-optimised-node-17.example.internal',
  'author: Ada, tests passed: 12, keyboard=qwerty, bypass=1',
  'github.com/acme/pay@v1.2.3 and shop/web:1.41',
  'no answer from http://cache:6379',
  'containerd://web:1.41',
  'no answer from http://[::1]:8080',
  'app image shop/token-service:main → registry:5000/shop/vault-secrets:2 and token-exchange:1.42.0-rc1',
  'container token-refresher exits 1, Secret db has no key password',
  'Secret db-credentials does not exist; app envFrom Secret db-credentials added',
  'container user-auth exits 1 after 20 s, ready when noticed: user-auth 1/2, web-token 0/2',
  'kubectl -n shop-auth rollout undo deploy/api-key --to-revision=2',
  'MountVolume.SetUp failed for volume "db-credentials" : secret "db-credentials" not found',
  'pods "a" is forbidden: exceeded quota: small, requested: secrets=1,count/secrets=1, used: secrets=10, limited: secrets=10',
  '{"spec":{"hard":{"secrets":"10","count/secrets":"20"}}}',
];
for (const text of harmless) test(`left alone: ${text.slice(0, 50)}`, () => assert.equal(redact(text), text));

test('what Kubernetes itself says is left alone, whatever it says', () => {
  for (const file of ['events', 'node-events']) {
    const recorded = JSON.parse(
      readFileSync(new URL(`../../fixtures/recorded/${file}.json`, import.meta.url), 'utf8'),
    ) as { items: { message: string }[] };
    const messages = recorded.items.map(({ message }) => message);
    assert.ok(messages.length > 10);
    assert.deepEqual(messages.map(redact), messages);
  }
});

const letters = (alphabet: string, min: number, max = min) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: min, maxLength: max });
const alnum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const secret = letters(`${alnum}!$%^*+.-_~#?`, 8, 40).map((text) => `z${text}`); // no quote, nor '@' and '/', which end some forms
const base64 = (min: number) => letters(`${alnum}+/`, min, min + 40);
const mixed = base64(40).map((text) => `aB3${text}`);
const name = fc.constantFrom(
  'password',
  'DB_PASSWORD',
  'client_secret',
  'clientSecret',
  'API-KEY',
  'access_token',
  'SMTP_PASS',
  'x-api-key',
  'private.key',
  'sig',
  'SENTRY_DSN',
);
const form = (prefix: string, rest: fc.Arbitrary<string>) => rest.map((s) => ({ kept: s, text: `${prefix}${s}` }));
const named = (shape: (name: string, value: string) => string) =>
  fc.tuple(name, secret).map(([n, kept]) => ({ kept, text: shape(n, kept) }));

const forms = {
  'a variable': named((n, v) => `${n}=${v}`),
  YAML: named((n, v) => `${n}: ${v}`),
  'a colon and nothing else': named((n, v) => `${n}:${v}`),
  JSON: named((n, v) => `{"${n}":"${v}","b":1}`),
  'JSON within JSON': named((n, v) => `{\\"${n}\\": \\"${v}\\"}`),
  'quoted with a space': named((n, v) => `${n}='${v} ${v}'`),
  'an argument': named((n, v) => `--${n} ${v}`),
  'a bearer header': form('Authorization: Bearer ', secret),
  'a bearer token': form('bearer ', letters(alnum, 24, 60)),
  'a connection string': fc
    .tuple(fc.constantFrom('postgres', 'mongodb+srv', 'amqps', 'https'), secret)
    .map(([scheme, kept]) => ({ kept, text: `${scheme}://app:${kept}@db.shop:5432/x` })),
  'a JSON web token': fc
    .tuple(letters(`${alnum}_-`, 20, 60), letters(`${alnum}_-`, 20, 90))
    .map(([a, b]) => ({ kept: b, text: `eyJ${a}.eyJ${a}.${b}` })),
  'an AWS key id': letters('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 16).map((s) => ({
    kept: `AKIA${s}`,
    text: `AKIA${s}`,
  })),
  'an AWS secret key': form('', mixed),
  'a GitHub token': letters(alnum, 36).map((s) => ({ kept: s, text: `ghp_${s}` })),
  'an e-mail address': fc
    .tuple(letters('abcdefgh.', 3, 12), letters('abcdefgh', 3, 12))
    .map(([who, host]) => ({ kept: `${who}z@${host}`, text: `${who}z@${host}.example` })),
  'a private key': fc.array(mixed, { minLength: 1, maxLength: 4 }).map((lines) => ({
    kept: lines[0]!,
    text: `-----BEGIN EC PRIVATE KEY-----\n${lines.join('\n')}\n-----END EC PRIVATE KEY-----`,
  })),
};

const noise = fc.string({ unit: fc.constantFrom(...'abc XYZ 019 .,:;=/@"\'{}[]()-_\n\t\\'), maxLength: 60 });
const gap = fc.constantFrom(' ', '\n', '\t', ' (', ' [', ', ');
for (const [kind, planted] of Object.entries(forms))
  test(`planted anywhere in any text, ${kind} does not survive`, () =>
    fc.assert(
      fc.property(noise, gap, planted, gap, noise, (before, open, { kept, text }, close, after) => {
        const said = redact(`${before}${open}${text}${close}${after}`);
        assert.ok(!said.includes(kept), said);
        assert.equal(redact(said), said, 'and once is enough');
      }),
      { numRuns: 1_000 },
    ));

test('no text takes long, however odd', () => {
  const odd = [
    'a',
    '\\',
    '"',
    '-',
    'password=',
    'password="\\',
    'http://',
    'a:b',
    'a@',
    '-----BEGIN ',
    'bearer ',
    'password ',
    'a1',
    '-u a',
    'token token ',
    'a/b',
    'xPass ',
    'mysql ',
    '-p',
    'password is ',
    'ab',
    'hook (',
    'command "',
    'args[0]: Invalid: ',
  ];
  for (const piece of odd) {
    const before = process.cpuUsage(); // not the time on the wall: the machine may be busy otherwise
    redact(piece.repeat(Math.ceil(65_536 / piece.length)));
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 1_000 < 2_000, piece);
  }
});
