import { spawn } from 'node:child_process';
import { openSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Component } from './components.ts';
import type { Layout } from './layout.ts';

const restartDelayMs = 300;
/** A component that ends this often before the cluster is ready will not come up at all. */
const patience = 5;

/** Keeps components running: one that ends, for example because a test killed it, is started again. */
export class Supervisor {
  readonly #programs: string;
  readonly #at: Layout;
  readonly #exits = new Map<string, number>();

  constructor(programs: string, at: Layout) {
    this.#programs = programs;
    this.#at = at;
  }

  start(component: Component): void {
    const log = openSync(this.#at.log(component.name), 'a');
    const child = spawn(join(this.#programs, component.name), component.args, { stdio: ['ignore', log, log] });
    closeSync(log);
    if (child.pid !== undefined) writeFileSync(this.#at.pidFile(component.name), `${child.pid}\n`);
    // 'close' follows both an exit and a failure to start.
    child.on('error', () => {});
    child.on('close', () => {
      this.#exits.set(component.name, (this.#exits.get(component.name) ?? 0) + 1);
      setTimeout(() => this.start(component), restartDelayMs);
    });
  }

  /** The name of a component that ends again and again, if there is one. */
  hopeless(): string | undefined {
    return [...this.#exits].find(([, exits]) => exits >= patience)?.[0];
  }
}
