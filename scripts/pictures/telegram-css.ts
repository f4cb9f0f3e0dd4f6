import type { Theme } from './app.ts';

interface Colours {
  wall: string;
  bar: string;
  bubble: string;
  text: string;
  quiet: string;
  accent: string;
  code: string;
  button: string;
  edge: string;
}

const colours: Readonly<Record<Theme, Colours>> = {
  light: {
    wall: '#d3dfe6',
    bar: '#f7f8f9',
    bubble: '#ffffff',
    text: '#10151a',
    quiet: '#7d8a96',
    accent: '#1c7fc4',
    code: '#eef4f9',
    button: '#5c7486',
    edge: '#c4d0d8',
  },
  dark: {
    wall: '#0e1620',
    bar: '#18222d',
    bubble: '#1f2b38',
    text: '#f2f5f7',
    quiet: '#8496a8',
    accent: '#6ab3f3',
    code: '#16202b',
    button: '#304457',
    edge: '#263442',
  },
};

/** A phone 390 points wide. Inter is wider than a phone's own fonts: at 15 its lines break about where theirs do at 16. */
export function telegramCss(theme: Theme): string {
  const { wall, bar, bubble, text, quiet, accent, code, button, edge } = colours[theme];
  return `
.screen { width: 390px; border-radius: 18px; overflow: hidden; background: ${wall}; border: 1px solid ${edge};
  box-sizing: border-box; font: 15px/20px Inter, 'Noto Sans', 'Noto Color Emoji'; color: ${text}; letter-spacing: -0.011em; }
.lock { width: 390px; box-sizing: border-box; padding: 12px; border-radius: 18px; background: ${wall};
  border: 1px solid ${edge}; color: ${text}; font: 15px/20px Inter, 'Noto Sans', 'Noto Color Emoji'; letter-spacing: -0.011em; }
.notification { position: relative; display: flex; gap: 10px; align-items: center; padding: 9px 12px 11px;
  border-radius: 17px; background: ${bar}; }
.notification b { font-weight: 600; }
.notification time { top: 10px; }
.words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden;
  white-space: pre-wrap; }
header { display: flex; align-items: center; gap: 10px; padding: 9px 14px; background: ${bar};
  border-bottom: 1px solid ${edge}; }
header b { display: block; font-weight: 600; font-size: 16px; }
header small { display: block; font-size: 13px; line-height: 16px; color: ${quiet}; }
.back { width: 9px; height: 9px; margin: 0 4px 0 3px; border: solid ${accent}; border-width: 0 0 2px 2px;
  transform: rotate(45deg); }
.avatar { flex: none; width: 34px; height: 34px; border-radius: 50%; background: #3f8fcb; color: #fff;
  font: 600 17px/34px Inter, 'Noto Sans'; text-align: center; }
.avatar.group { width: 36px; height: 36px; line-height: 36px; font-size: 15px; background: #8b6fc9; }
.chat { display: flex; align-items: flex-end; gap: 6px; padding: 10px 10px 12px 8px; }
.message { flex: 1; min-width: 0; }
.bubble { position: relative; padding: 7px 11px 8px 12px; border-radius: 17px 17px 17px 5px; background: ${bubble}; }
.sender { color: ${accent}; font-weight: 600; font-size: 15px; line-height: 19px; margin-bottom: 1px; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.room { display: inline-block; width: 40px; }
time { position: absolute; right: 11px; bottom: 6px; font-size: 12px; line-height: 16px; color: ${quiet}; }
.b { font-weight: 600; }
.i { font-style: italic; }
.u { text-decoration: underline; }
.s { text-decoration: line-through; }
.a { color: ${accent}; }
.tg-spoiler { background: ${quiet}; color: transparent; }
.code, .pre { font-family: 'DejaVu Sans Mono', 'Noto Color Emoji'; letter-spacing: 0; font-variant-ligatures: none; }
.code { font-size: 14px; color: ${accent}; }
.pre { margin: 4px 0; padding: 5px 9px 6px 10px; border-left: 3px solid ${accent}; border-radius: 5px;
  background: ${code}; font-size: 12.5px; line-height: 18px; }
.blockquote { margin: 4px 0; padding: 3px 9px 4px 10px; border-left: 3px solid ${accent}; border-radius: 5px;
  background: ${code}; }
.row { display: flex; gap: 4px; margin-top: 4px; }
.button { flex: 1; min-width: 0; padding: 10px 5px 11px; border-radius: 11px; background: ${button}; color: #fff;
  font-weight: 500; font-size: 14px; line-height: 20px; text-align: center; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
`;
}
