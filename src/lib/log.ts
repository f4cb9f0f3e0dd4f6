import { pino } from 'pino';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Secrets that may be part of an error text or URL. The pattern of the Telegram token has no word boundary before it,
 * because in URLs the token follows "bot".
 */
const secrets: readonly RegExp[] = [
  /\d{6,12}:[A-Za-z0-9_-]{30,}/g, // Telegram bot token
  /xox[a-z]-[A-Za-z0-9-]{8,}/g, // Slack bot and user tokens
  /xapp-[A-Za-z0-9-]{8,}/g, // Slack app token
  /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g, // JSON web token, as a ServiceAccount has
  /(?<=[Bb]earer\s+)[A-Za-z0-9._~+/=-]{8,}/g,
];

export const scrub = (text: string): string =>
  secrets.reduce((clean, secret) => clean.replace(secret, '[secret]'), text);

export interface LogOptions {
  level?: string;
  write?: (line: string) => void;
}

/** Writes JSON lines. Every line is scrubbed as a whole, at whatever depth the secret was. */
export function createLog({ level = 'info', write }: LogOptions = {}): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['err.error', 'err.ctx', 'err.config', 'err.response', 'error.error'], remove: true },
      hooks: { streamWrite: scrub },
    },
    write ? { write } : pino.destination({ fd: 1, sync: true }),
  );
}
