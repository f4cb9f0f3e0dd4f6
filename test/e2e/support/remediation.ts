export const quotaAction = { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'limits', uid: 'u-1' } };

/** One that the schema takes, of a quota that need not exist; by kubectl's own user. */
export const aRemediation = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'tapfix.dev/v1alpha1',
  kind: 'Remediation',
  metadata: { name, ...metadata },
  spec: {
    incident: {
      key: 'shop/ResourceQuota/limits',
      class: 'QuotaExceeded',
      severity: 'critical',
      reason: 'FailedCreate',
      object: { kind: 'ResourceQuota', name: 'limits', uid: 'u-1' },
      message: 'exceeded quota: limits',
      firstSeen: '2026-11-16T10:00:00Z',
    },
    diagnosis: 'The quota limits blocks every new pod.',
    context: { changed: [], evidence: [] },
    action: quotaAction,
    rationale: 'Nothing but the quota is deleted.',
    proposedBy: 'admin',
    ttlMinutes: 30,
    approval: { state: 'Pending' },
    ...spec,
  },
});
