/** A UUID in 22 characters, so that it fits a chat button's 64 bytes. */
export function shortUid(uid: string): string {
  const hex = uid.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) throw new RangeError(`not a uid: ${uid}`);
  return Buffer.from(hex, 'hex').toString('base64url');
}

export function longUid(short: string): string | undefined {
  const hex = Buffer.from(short, 'base64url').toString('hex');
  if (short.length !== 22 || hex.length !== 32) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
