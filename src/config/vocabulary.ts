/** The closed lists of words that a configuration may use. */
export const classNames = [
  'QuotaExceeded', 'CreateRejected', 'ImagePull', 'ConfigMissing', 'OOMKilled', 'CrashLoop', 'ProbeFailing', 'RolloutStuck',
  'Unschedulable', 'SandboxFailed', 'VolumeStuck', 'StorageFailed', 'Evicted', 'JobFailed', 'NodeDown', 'AutoscalerBlind',
] as const; // prettier-ignore

export const actionNames = [
  'DeleteResourceQuota', 'PatchDeploymentImage', 'ScaleDeployment', 'RolloutRestart', 'DeletePod', 'RolloutUndo',
] as const; // prettier-ignore

export const severityNames = ['critical', 'warning', 'info'] as const;
