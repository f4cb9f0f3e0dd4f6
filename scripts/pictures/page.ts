import { escaped, type Theme } from './app.ts';
import { whatItShows, type Picture, type ShownFrame } from './list.ts';

const captions = { light: '#59636e', dark: '#9198a1' } as const;

/** The picture is what is inside <main>; around it is nothing, so that it can stand on any page. */
export function pageOf(picture: Picture, theme: Theme): string {
  const frame = ({ caption, view, ...shown }: ShownFrame): string =>
    `${caption ? `<p>${escaped(caption)}</p>` : ''}${picture.app.screen(shown, view)}`;
  const columns = whatItShows(picture).map((frames) => `<div>${frames.map(frame).join('')}</div>`);
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; }
main { display: inline-flex; gap: 20px; vertical-align: top; }
p { margin: 16px 0 6px 10px; font: 500 14px/18px Inter, 'Noto Sans'; color: ${captions[theme]}; }
p:first-child { margin-top: 0; }
${picture.app.css(theme)}</style><main>${columns.join('')}</main>`;
}
