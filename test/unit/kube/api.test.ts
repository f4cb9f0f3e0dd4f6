import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/kube/api.ts';

test('an error does not repeat the value that the API server refused', () => {
  const said = 'Deployment "web" is invalid: spec.template.spec.containers[0].args[1]: Invalid value: "swordfish": bad';
  const { message } = new ApiError(said, 422, 'Invalid');
  assert.equal(message, said.replace('"swordfish"', '[redacted]'));
});
