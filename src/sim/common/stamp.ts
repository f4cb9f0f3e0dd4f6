/** As Kubernetes writes most times: whole seconds. */
export const stamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** As it writes those of the newer events: microseconds. */
export const microStamp = (ms: number): string => new Date(ms).toISOString().replace(/Z$/, '000Z');

/** NaN when there is none. */
export const millis = (text: string | null | undefined): number => (text ? Date.parse(text) : Number.NaN);
