import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../../src/config/schema.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { whyUnwatched } from '../../../../src/notices/plan/unwatched.ts';
import { aConfig } from '../../../support/config.ts';
import { aFix, aNotice } from '../../../support/fixes.ts';

const telegram = { telegram: { chat: '-1', routes: [], apiRoot: 'http://localhost' } };
const here = { channels: telegram };
const elsewhere: Partial<Config> = { channels: telegram, namespaces: { include: ['other'], exclude: [] } };
const unwatched = 'shop is no longer watched, nothing was changed';
const inPhase = (fix: Remediation, phase: string): Remediation =>
  ({ ...fix, status: { ...fix.status, phase } }) as Remediation;

const cases: [string, Remediation, Partial<Config>, RegExp | string | undefined][] = [
  ['watched and told', aFix(), here, undefined],
  ['a proposal in a namespace that was left', aFix(), elsewhere, unwatched],
  ['a notice there', aNotice(), elsewhere, unwatched],
  ['one that nobody decided', inPhase(aFix(), 'Expired'), elsewhere, unwatched],
  ['a fix that is being applied is shown to its end', inPhase(aFix(), 'Applied'), elsewhere, undefined],
  ['one that failed still says how to put it back', inPhase(aFix(), 'Failed'), elsewhere, undefined],
  ['one that is over stays as it is', inPhase(aFix(), 'Recovered'), elsewhere, undefined],
  ['a channel that was removed', aFix(), { channels: { console: {} } }, /^tapfix no longer writes here/],
  [
    'there also of what is being applied',
    inPhase(aFix(), 'Applied'),
    { channels: { console: {} } },
    /^tapfix no longer writes here/,
  ],
  ['but not of what is over', inPhase(aFix(), 'Recovered'), { channels: { console: {} } }, undefined],
];
for (const [name, fix, config, want] of cases)
  test(name, () => {
    const why = whyUnwatched(fix, 'telegram', aConfig(config), 'tapfix');
    if (want instanceof RegExp) assert.match(why ?? '', want);
    else assert.equal(why, want);
  });
