import type { Theme } from './app.ts';

interface Colours {
  page: string;
  bar: string;
  text: string;
  quiet: string;
  edge: string;
  code: string;
  button: string;
  chip: string;
}

const colours: Readonly<Record<Theme, Colours>> = {
  light: {
    page: '#ffffff',
    bar: '#ffffff',
    text: '#1d1c1d',
    quiet: '#616061',
    edge: '#dddddd',
    code: '#f8f8f8',
    button: '#ffffff',
    chip: '#e8e8e8',
  },
  dark: {
    page: '#1a1d21',
    bar: '#1a1d21',
    text: '#e8e9ea',
    quiet: '#ababad',
    edge: '#3a3d41',
    code: '#222529',
    button: '#1f2226',
    chip: '#33373b',
  },
};

/** A phone 390 points wide, with the colours and sizes of Slack's own app. */
export function slackCss(theme: Theme): string {
  const { page, bar, text, quiet, edge, code, button, chip } = colours[theme];
  return `
.screen, .lock { width: 390px; box-sizing: border-box; border-radius: 18px; overflow: hidden; background: ${page};
  border: 1px solid ${edge}; color: ${text}; font: 15px/21px Inter, 'Noto Sans', 'Noto Color Emoji'; letter-spacing: -0.011em; }
.lock { padding: 12px; }
.notification { position: relative; display: flex; gap: 10px; align-items: center; padding: 9px 12px 11px;
  border-radius: 17px; background: ${code}; }
.notification b { font-weight: 600; }
.notification time { position: absolute; right: 12px; top: 10px; }
.words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; white-space: pre-wrap; }
header { display: flex; align-items: center; gap: 10px; padding: 10px 14px; background: ${bar};
  border-bottom: 1px solid ${edge}; }
header b { display: block; font-weight: 700; font-size: 16px; }
header small { display: block; font-size: 13px; line-height: 16px; color: ${quiet}; }
.back { width: 9px; height: 9px; margin: 0 4px 0 3px; border: solid ${quiet}; border-width: 0 0 2px 2px;
  transform: rotate(45deg); }
.avatar { flex: none; width: 38px; height: 38px; border-radius: 9px; background: #3f8fcb; color: #fff;
  font: 700 19px/38px Inter, 'Noto Sans'; text-align: center; }
.chat { display: flex; gap: 10px; padding: 12px 14px 16px 12px; }
.message { flex: 1; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.sender { display: flex; align-items: center; gap: 6px; line-height: 18px; }
.sender b { font-weight: 700; }
.app { padding: 0 4px; border-radius: 3px; background: ${chip}; color: ${quiet}; font: 700 10px/14px Inter, 'Noto Sans'; }
time { color: ${quiet}; font-size: 12px; line-height: 16px; }
h1 { margin: 5px 0 3px; font: 800 17px/23px Inter, 'Noto Sans', 'Noto Color Emoji'; letter-spacing: -0.015em; }
.context { margin: 0 0 6px; color: ${quiet}; font-size: 13px; line-height: 18px; }
.section, .rich_text_section { margin: 2px 0; }
b { font-weight: 700; }
.rich_text_preformatted { margin: 4px 0; padding: 7px 9px; border: 1px solid ${edge}; border-radius: 5px;
  background: ${code}; font: 12px/17px 'DejaVu Sans Mono', 'Noto Color Emoji'; letter-spacing: 0; font-variant-ligatures: none; }
.rich_text_quote { margin: 4px 0; padding: 1px 0 1px 11px; border-left: 4px solid ${edge}; }
.row { display: flex; flex-wrap: wrap; gap: 7px; margin: 8px 0 10px; }
.button { max-width: 100%; box-sizing: border-box; padding: 6px 11px; border: 1px solid ${edge}; border-radius: 8px; background: ${button};
  font-weight: 600; font-size: 14px; line-height: 20px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.button.primary { background: #007a5a; border-color: #007a5a; color: #fff; }
.button.danger { background: #e01e5a; border-color: #e01e5a; color: #fff; }
`;
}
