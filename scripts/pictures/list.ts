import { hashOf } from '../../src/lib/hash.ts';
import { messageIn, type Scene } from '../../test/golden/scenes.ts';
import type { App, Shown, View } from './app.ts';
import { shown as scenes } from './scenes.ts';
import { slack } from './slack.ts';
import { telegram } from './telegram.ts';

interface Frame {
  scene: Scene;
  view: View;
  /** Said above it, where there are several. */
  caption?: string;
}

/** One picture: docs/pictures/NAME-light.png and NAME-dark.png. */
export interface Picture {
  name: string;
  app: App;
  /** Side by side, each from top to bottom. */
  columns: Frame[][];
}

const apps: Readonly<Record<string, App>> = { telegram, slack };

/** Each phase, and what else a message can be: one picture for each vendor. */
const each: Readonly<Record<string, Scene>> = {
  proposed: scenes.proposed,
  approved: scenes.approved,
  applying: scenes.applying,
  applied: scenes.applied,
  recovered: scenes.recovered,
  rejected: scenes.rejected,
  expired: scenes.expired,
  failed: scenes.failed,
  resolved: scenes.resolved,
  superseded: scenes.superseded,
  noticed: scenes.noticed,
  quota: scenes.quota,
  'quota-confirm': scenes.quotaConfirming,
  'quota-recovered': scenes.quotaRecovered,
  'three-at-once': scenes.threeAtOnce,
  storm: scenes.storm,
  'storm-list': scenes.page,
};

/** The same, where people decide in this vendor's chat. */
const decidedIn = (vendor: string, scene: Scene): Scene => ({
  ...scene,
  members: scene.members.map((fix) => {
    const { approval } = fix.spec;
    return approval.via === undefined ? fix : { ...fix, spec: { ...fix.spec, approval: { ...approval, via: vendor } } };
  }),
});

/** The life of one message, side by side. */
const life = (vendor: string, app: App): Picture => ({
  name: `${vendor}-life`,
  app,
  columns: [
    [
      { scene: scenes.proposed, view: 'lock', caption: 'On the locked phone' },
      { scene: scenes.proposed, view: 'chat', caption: 'In the chat' },
    ],
    [
      {
        scene: decidedIn(vendor, scenes.approved),
        view: 'message',
        caption: 'Ada taps “Roll back to 1.41”: the same message',
      },
      { scene: scenes.applied, view: 'message', caption: 'The fix is applied' },
      { scene: decidedIn(vendor, scenes.recovered), view: 'message', caption: 'It is over' },
    ],
  ],
});

export const pictures: readonly Picture[] = Object.entries(apps).flatMap(([vendor, app]) => [
  life(vendor, app),
  ...Object.entries(each).map(([name, scene]): Picture => {
    return { name: `${vendor}-${name}`, app, columns: [[{ scene: decidedIn(vendor, scene), view: 'chat' }]] };
  }),
]);

export interface ShownFrame extends Shown {
  view: View;
  caption: string;
}

export const whatItShows = ({ app, columns }: Picture): ShownFrame[][] =>
  columns.map((frames) =>
    frames.map(({ scene, view, caption = '' }) => ({
      ...app.show(messageIn(scene)),
      view,
      caption,
    })),
  );

/** The note inside each PNG: by it a test knows that the picture still shows what tapfix says. */
export const keyword = 'tapfix-scene';
export const hashOfPicture = (picture: Picture): string => hashOf(whatItShows(picture), 16);
