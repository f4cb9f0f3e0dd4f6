import assert from 'node:assert/strict';
import { test } from 'node:test';
import { denialIn, denialInWords } from '../../../../src/diagnosis/words/admission.ts';

const forbidden = (why: string): string => `Error creating: pods "web-7d9f8b6c5d-x2x4z" is forbidden: ${why}`;

const said: { name: string; text: string; want: string }[] = [
  {
    name: 'Pod Security, as recorded of a StatefulSet',
    text: 'Create Pod ledger-db-0 in StatefulSet ledger-db failed error: pods "ledger-db-0" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "db" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "db" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "db" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "db" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    want: 'Pod Security level restricted refuses its pods: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
  },
  {
    name: 'Pod Security about the host',
    text: `(combined from similar events): ${forbidden('violates PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true), hostPath volumes (volume "logs")')}`,
    want: 'Pod Security level baseline refuses its pods: host namespaces (hostNetwork=true), hostPath volumes (volume "logs")',
  },
  {
    name: 'a policy with its binding',
    text: forbidden(
      "ValidatingAdmissionPolicy 'replica-limit.example.com' with binding 'shop' denied request: failed expression: object.spec.replicas <= 5",
    ),
    want: 'policy replica-limit.example.com (binding shop) refuses its pods: failed expression: object.spec.replicas <= 5',
  },
  {
    name: 'a policy',
    text: forbidden("ValidatingAdmissionPolicy 'labels' denied request: every pod needs an owner label"),
    want: 'policy labels refuses its pods: every pod needs an owner label',
  },
  {
    name: 'a webhook of Kyverno, on many lines',
    text: 'Error creating: admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/shop/web was blocked due to the following policies\n\nrequire-labels:\n  check: \'validation error: label app is required\'',
    want: "webhook validate.kyverno.svc-fail refuses its pods: resource Pod/shop/web was blocked due to the following policies require-labels: check: 'validation error: label app is required'",
  },
  {
    name: 'a webhook without a word',
    text: 'Error creating: admission webhook "guard.example.com" denied the request without explanation',
    want: 'webhook guard.example.com refuses its pods',
  },
  {
    name: 'a webhook that is down',
    text: 'Error creating: Internal error occurred: failed calling webhook "inject.example.com": failed to call webhook: Post "https://injector.mesh.svc:443/inject?timeout=10s": dial tcp 10.96.3.4:443: connect: connection refused',
    want: 'webhook inject.example.com refuses its pods: it does not answer: dial tcp 10.96.3.4:443: connect: connection refused',
  },
  {
    name: 'a quota that wants amounts',
    text: forbidden('failed quota: compute: must specify limits.memory for: app,proxy; requests.cpu for: app'),
    want: 'quota compute refuses its pods: every container must say limits.memory (missing in app, proxy); requests.cpu (missing in app)',
  },
  {
    name: 'a quota that wants amounts, before 1.24',
    text: forbidden('failed quota: compute: must specify limits.cpu,limits.memory'),
    want: 'quota compute refuses its pods: every container must say limits.cpu,limits.memory',
  },
  {
    name: 'a LimitRange',
    text: forbidden('maximum memory usage per Container is 1Gi, but limit is 2Gi'),
    want: 'a LimitRange refuses its pods: maximum memory usage per Container is 1Gi, but limit is 2Gi',
  },
  {
    name: 'a LimitRange with two complaints',
    text: forbidden(
      '[minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Pod is 2. No limit is specified]',
    ),
    want: 'a LimitRange refuses its pods: minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Pod is 2. No limit is specified',
  },
  {
    name: 'a LimitRange about a ratio',
    text: forbidden('cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000'),
    want: 'a LimitRange refuses its pods: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000',
  },
  {
    name: 'a ServiceAccount that is not there',
    text: forbidden('error looking up service account shop/web: serviceaccount "web" not found'),
    want: 'the API server refuses its pods: ServiceAccount web does not exist',
  },
  {
    name: 'a PriorityClass that is not there',
    text: forbidden('no PriorityClass with name high was found'),
    want: 'the API server refuses its pods: PriorityClass high does not exist',
  },
  {
    name: 'a RuntimeClass that is not there',
    text: forbidden('pod rejected: RuntimeClass "gvisor" not found'),
    want: 'the API server refuses its pods: RuntimeClass gvisor does not exist',
  },
  {
    name: 'a spec that is not valid',
    text: 'Error creating: Pod "web-0" is invalid: spec.containers[0].image: Required value',
    want: 'the API server refuses its pods: the pod spec is not valid: spec.containers[0].image: Required value',
  },
  {
    name: 'anything else',
    text: forbidden('the moon is full'),
    want: 'the API server refuses its pods: the moon is full',
  },
  { name: 'anything at all', text: 'Error creating: boom', want: 'the API server refuses its pods: boom' },
];
for (const { name, text, want } of said)
  test(`who refused a pod: ${name}`, () => assert.equal(denialInWords(denialIn(text)), want));
