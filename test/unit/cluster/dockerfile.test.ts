import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import { parseDockerfile } from '../../cluster/dockerfile.ts';

const minimal = 'FROM node:24-slim\nENTRYPOINT ["node", "/app/main.js"]\n';

test('a Dockerfile is read whole', () => {
  const text = `# comment
FROM node:24-slim
LABEL org.opencontainers.image.title="tap fix" \\
      org.opencontainers.image.licenses=Apache-2.0
WORKDIR /app
COPY dist/main.js package.json ./
COPY deploy deploy
ENV NODE_ENV=production
EXPOSE 8080 9090/udp
USER 65532:65532
ENTRYPOINT ["node", "/app/main.js"]
`;
  assert.deepEqual(parseDockerfile(text), {
    from: 'node:24-slim',
    copies: [
      { sources: ['dist/main.js', 'package.json'], target: '/app/./' },
      { sources: ['deploy'], target: '/app/deploy' },
    ],
    workdir: '/app',
    env: { NODE_ENV: 'production' },
    labels: { 'org.opencontainers.image.title': 'tap fix', 'org.opencontainers.image.licenses': 'Apache-2.0' },
    ports: ['8080/tcp', '9090/udp'],
    user: '65532:65532',
    entrypoint: ['node', '/app/main.js'],
  });
});

const refusals = [
  {
    name: 'an instruction that would need a container',
    text: `${minimal}RUN npm ci`,
    want: /RUN is not understood here/,
  },
  { name: 'a second stage', text: `${minimal}FROM scratch`, want: /only one FROM/ },
  { name: 'files of another stage', text: `${minimal}COPY --from=build /a /b`, want: /COPY with options/ },
  { name: 'wildcards', text: `${minimal}COPY dist/*.js /app/`, want: /wildcards/ },
  { name: 'a named user', text: `${minimal}USER node`, want: /USER must be a number/ },
  { name: 'a shell entrypoint', text: 'FROM a\nENTRYPOINT node x', want: /must be a JSON array/ },
  { name: 'no entrypoint', text: 'FROM a', want: /FROM and ENTRYPOINT are needed/ },
];

for (const { name, text, want } of refusals) {
  test(`a Dockerfile is refused for ${name}`, () => assert.throws(() => parseDockerfile(text), want));
}

test('the image runs the Node that the tests run', async () => {
  const text = await readFile(new URL('../../../deploy/Dockerfile', import.meta.url), 'utf8');
  assert.equal(parseDockerfile(text).from, `node:${packageJson.devDependencies.node}-slim`);
});
