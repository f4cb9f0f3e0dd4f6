import { createController } from '../controller/controller.ts';
import { readHealth } from '../diagnosis/health.ts';
import { createSharedEvents } from '../diagnosis/readers.ts';
import { derive } from '../proposals/derive.ts';
import { classOf } from '../signals/classes.ts';
import type { Ground, Role } from './app.ts';

/** The far half of street 2: rehearses, applies, watches recovery. It never talks to the internet. */
export function createControllerRole(ground: Ground): Role {
  const { clock, log, current, ownNamespace, identity, history, metrics } = ground;
  return {
    follow: () => [],
    /** Everything that the controller knows is in the Remediations, so each term begins with nothing else. */
    lead(term) {
      const api = ground.api.guardedBy(term.mustLead);
      const reader = createSharedEvents(api, clock);
      const controller = createController({
        api,
        clock,
        log,
        current,
        namespace: ownNamespace,
        isOurs: ground.isOurs,
        identity,
        history,
        readHealth,
        patienceMs: (failureClass) => classOf(failureClass, current()).forMs,
        derive: (subject, reading) => derive(subject, { ...reading, reader }),
        metrics: { phase: (phase) => metrics.remediations.inc({ phase }) },
      });
      ground.fixes.store.subscribe({ onList: controller.onFixes, onChange: controller.onFix }, term.signal);
      return [controller.run(term.signal)];
    },
  };
}
