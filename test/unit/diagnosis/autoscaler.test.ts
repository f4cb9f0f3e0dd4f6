import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blindInWords } from '../../../src/diagnosis/autoscaler.ts';

const blind: [text: string, want: string][] = [
  ['the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)', 'it cannot read cpu: the API metrics.k8s.io (metrics-server) is not installed'],
  ['failed to get memory utilization: unable to get metrics for resource memory: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)', 'it cannot read memory: the API metrics.k8s.io (metrics-server) does not answer'],
  ['the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container app of Pod web-1', 'it cannot read cpu: its pods make no request for cpu in container app'],
  ['the HPA was unable to compute the replica count: failed to get external metric queue_depth: unable to get external metric shop/queue_depth/nil: no metrics returned from external metrics API', 'it cannot read queue_depth: the API external.metrics.k8s.io has no values'],
  ['failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)', 'it cannot read cpu: no ready pod has values yet'],
  ["the HPA controller was unable to get the target's current scale: deployments.apps \"nope\" not found", 'deployment nope, which it should scale, does not exist'],
  ['boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of blind) test(`a blind autoscaler: ${want}`, () => assert.equal(blindInWords(text), want));
