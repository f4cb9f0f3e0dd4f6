import { hashOf } from '../../lib/hash.ts';
import type { PodObject } from '../common/shapes.ts';
import type { PodNote } from './pod.ts';

/** Each try has a sandbox of its own, so each message is another. */
export const sandboxNote = ({ metadata }: PodObject, tries: number): PodNote => {
  const id = hashOf([metadata.uid, 'sandbox', tries]);
  const why = 'failed to find plugin "ptp" in path [/opt/cni/bin]';
  const error = `failed to setup network for sandbox "${id}": plugin type="ptp" failed (add): ${why}`;
  return {
    type: 'Warning',
    reason: 'FailedCreatePodSandBox',
    message: `Failed to create pod sandbox: rpc error: code = Unknown desc = ${error}`,
  };
};

export const volumeNote = ({ spec }: PodObject, secret: string): PodNote => {
  const volume = spec?.volumes?.[0]?.name ?? 'data';
  return {
    type: 'Warning',
    reason: 'FailedMount',
    message: `MountVolume.SetUp failed for volume "${volume}" : secret "${secret}" not found`,
  };
};

export const evictionNote = ({ spec }: PodObject): PodNote => {
  const { name = 'app', resources } = spec?.containers?.[0] ?? {};
  const request = resources?.requests?.['memory'] ?? '0';
  const low = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 52784Ki. ';
  const who = `Container ${name} was using 412344Ki, request is ${request}, has larger consumption of memory. `;
  return { type: 'Warning', reason: 'Evicted', message: low + who };
};
