import type { KindRow } from './kinds.ts';
import { type Problem, wrong } from './refusal.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const onlyLabel = new RegExp(`^${label}$`);
const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric " +
  "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with the name of an object. */
export function checkName(name: string, { names }: KindRow): Problem[] {
  const bad = (why: string): Problem[] => [wrong('metadata.name', name, why)];
  if (names === 'path') {
    if (name === '.' || name === '..') return bad(`may not be '${name}'`);
    return /[/%]/.test(name) ? bad("may not contain '/' or '%'") : [];
  }
  if (names === 'label') {
    if (name.includes('.')) return bad('must not contain dots');
    if (name.length > 63) return bad('must be no more than 63 bytes');
    return onlyLabel.test(name) ? [] : bad(labelWords);
  }
  if (name.length > 253) return bad('must be no more than 253 characters');
  return subdomain.test(name) ? [] : bad(subdomainWords);
}

const qualifiedName = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?(?=.{1,63}$)([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(?=.{0,63}$)(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const keyWords =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueWords =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export const checkKeys = (field: string, map: object): Problem[] =>
  Object.keys(map)
    .filter((key) => !qualifiedName.test(key))
    .map((key) => wrong(field, key, keyWords));

export const checkLabels = (field: string, labels: Record<string, string>): Problem[] => [
  ...checkKeys(field, labels),
  ...Object.values(labels)
    .filter((value) => !labelValue.test(value))
    .map((value) => wrong(field, value, valueWords)),
];

/** Of every generated suffix: no vowels and no 0, 1, 3, so that no word comes of it. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const longestGenerated = 63;
const suffixLength = 5;

/** "web-" becomes "web-x7k2p". */
export function generateName(base: string, random: () => number): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  return `${base.slice(0, longestGenerated - suffixLength)}${suffix}`;
}

/** A UUID of version 4, from the same source of chance as everything else. */
export function newUid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = '4';
  hex[16] = '89ab'[Math.floor(random() * 4)]!;
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
