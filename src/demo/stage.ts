import type { Api } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';

/** Where a demo plays: the simulated cluster, or a real one. */
export interface Stage {
  /** "a simulated cluster inside this program": said at the beginning. */
  readonly where: string;
  /** Shown on the cards. */
  readonly cluster: string;
  /** What the demo itself does, under its own name in the API server's books. */
  readonly api: Api;
  /** What tapfix does. */
  readonly tapfixApi: Api;
  /** Whose presses these are. */
  readonly identity: string;
  /** The shop's. */
  readonly namespace: string;
  /** The one container of a workload's pods, and what makes it crash. */
  container(app: string, version: 'good' | 'bad'): object;
  /** An image reference that nobody can pull. */
  noImage(app: string, n: number): string;
  /** One pod of a workload crashes from now on, and no other does. */
  spoilPod(app: string, clock: Clock, signal: AbortSignal): Promise<void>;
  /** Takes away all that was put there, saying what. */
  close(say: (text: string) => void): Promise<void>;
}
