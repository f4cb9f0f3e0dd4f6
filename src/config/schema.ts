import { z } from 'zod';
import { covers, isLiteral } from '../lib/glob.ts';
import { closest, didYouMean, editsApart } from '../lib/text.ts';
import {
  addIssue,
  anyText,
  duration,
  namespaceGlob,
  nonEmptyListOf,
  numericId,
  oneOf,
  text,
  url,
  whole,
  yesOrNo,
} from './fields.ts';
import { slackChannel, slackUser, telegramChat, telegramUser } from './chat-ids.ts';
import { escalation, type EscalationStep, reportUnreachable } from './escalation-schema.ts';

/** The closed lists of words that a configuration may use. */
export const classNames = [
  'QuotaExceeded', 'CreateRejected', 'ImagePull', 'ConfigMissing', 'OOMKilled', 'CrashLoop', 'ProbeFailing', 'RolloutStuck',
  'Unschedulable', 'SandboxFailed', 'VolumeStuck', 'StorageFailed', 'Evicted', 'JobFailed', 'NodeDown', 'AutoscalerBlind',
] as const; // prettier-ignore

export const actionNames = [
  'DeleteResourceQuota', 'PatchDeploymentImage', 'ScaleDeployment', 'RolloutRestart', 'DeletePod', 'RolloutUndo',
] as const; // prettier-ignore

/** The words that kubectl shows for these failures, and that people therefore look for. */
const classOfWord: Readonly<Record<string, (typeof classNames)[number]>> = {
  CrashLoopBackOff: 'CrashLoop', BackOff: 'CrashLoop', RunContainerError: 'CrashLoop', StartError: 'CrashLoop', PostStartHookError: 'CrashLoop',
  ImagePullBackOff: 'ImagePull', ErrImagePull: 'ImagePull', ErrImageNeverPull: 'ImagePull', InvalidImageName: 'ImagePull',
  ImageInspectError: 'ImagePull', RegistryUnavailable: 'ImagePull', SignatureValidationFailed: 'ImagePull',
  CreateContainerConfigError: 'ConfigMissing', OOMKilling: 'OOMKilled', OutOfMemory: 'OOMKilled',
  ContainerCreating: 'SandboxFailed', CreateContainerError: 'SandboxFailed', FailedCreatePodSandBox: 'SandboxFailed',
  FailedMount: 'VolumeStuck', FailedAttachVolume: 'VolumeStuck', ProvisioningFailed: 'StorageFailed', FailedBinding: 'StorageFailed',
  FailedScheduling: 'Unschedulable', Pending: 'Unschedulable', Unhealthy: 'ProbeFailing', NotReady: 'ProbeFailing',
  FailedCreate: 'CreateRejected', NodeNotReady: 'NodeDown', ProgressDeadlineExceeded: 'RolloutStuck',
  BackoffLimitExceeded: 'JobFailed', DeadlineExceeded: 'JobFailed', FailedGetResourceMetric: 'AutoscalerBlind',
}; // prettier-ignore

const classHint = (word: string, known: readonly string[]): string => {
  const meant = Object.hasOwn(classOfWord, word) ? classOfWord[word] : undefined;
  return meant && known.includes(meant) ? `did you mean ${meant}?` : didYouMean(word, known);
};

const severityNames = ['critical', 'warning', 'info'] as const;

const namespaces = z
  .strictObject({
    include: nonEmptyListOf(namespaceGlob, 'for all namespaces write ["*"]'),
    exclude: z.array(namespaceGlob).prefault([]),
  })
  .superRefine(({ include, exclude }, context) => {
    if (include.length > 0 && include.every((pattern) => exclude.some((glob) => covers(glob, pattern))))
      addIssue(context, { wrong: 'leaves nothing to watch', hint: 'every pattern of include is excluded' }, [
        'exclude',
      ]);
  })
  // If the whole group is missing, the reported problem is the missing key in it.
  .prefault({} as { include: string[] });

const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

const approver = z
  .strictObject({
    name: anyText('a name', 'such as name: Ada'),
    telegram: telegramUser.optional(),
    slack: slackUser.optional(),
    namespaces: nonEmptyListOf(namespaceGlob, 'leave the key out for all that are watched').optional(),
    kubernetesUser: anyText('a Kubernetes user name', 'such as ada@example.com').optional(),
    kubernetesGroups: z.array(anyText('a group name', 'such as sre')).prefault([]),
  })
  .superRefine((person, context) => {
    if (person.telegram === undefined && person.slack === undefined)
      addIssue(context, { wrong: 'needs a telegram or slack id', hint: 'people are known by their id in chat' });
    if (person.kubernetesGroups?.length > 0 && person.kubernetesUser === undefined)
      addIssue(
        context,
        {
          wrong: 'kubernetesGroups needs kubernetesUser as well',
          hint: 'the API server is asked about a user and their groups',
        },
        ['kubernetesGroups'],
      );
  }, always);

type Approvers = z.output<typeof approver>[];

/** One entry per person: with two entries, their order would decide which one counts. */
function reportTwins(approvers: Approvers, context: z.core.$RefinementCtx): void {
  for (const id of ['telegram', 'slack'] as const) {
    const first = new Map<unknown, number>();
    for (const [index, person] of approvers.entries()) {
      const value = person?.[id];
      if (typeof value !== 'number' && typeof value !== 'string') continue;
      const twin = first.get(value);
      if (twin === undefined) first.set(value, index);
      else
        addIssue(context, { wrong: `is the id of approvers[${twin}] as well`, hint: 'one entry per person' }, [
          index,
          id,
        ]);
    }
  }
}

const approval = z
  .strictObject({
    ttl: duration('1m', '60m', { wholeMinutes: true }).prefault('30m'),
    confirm: z.array(oneOf(actionNames)).prefault(['DeleteResourceQuota']),
    approvers: z
      .array(approver)
      .superRefine(reportTwins, { when: ({ value }) => Array.isArray(value) })
      .prefault([]),
  })
  .prefault({});

const telegramThread = numericId(
  'the number of a topic',
  /^[1-9]\d{0,15}$/,
  'the last number in a link to a message of that topic is the message; the one before it the topic',
);

const telegramRoute = z
  .strictObject({
    namespaces: nonEmptyListOf(namespaceGlob, 'such as ["shop-*"]'),
    chat: telegramChat.optional(),
    thread: telegramThread.optional(),
  })
  .superRefine(({ chat, thread }, context) => {
    if (chat === undefined && thread === undefined)
      addIssue(context, {
        wrong: 'needs a chat, a thread or both',
        hint: 'such as chat: -1001234567890, or thread: 7 for a topic of the main chat',
      });
  });

const telegram = z
  .strictObject({
    chat: telegramChat,
    routes: z.array(telegramRoute).prefault([]),
    apiRoot: url().prefault('https://api.telegram.org'),
  })
  .transform(({ chat, routes, apiRoot }) => ({
    chat,
    // A topic of the main chat need not repeat the chat.
    routes: routes.map((route): Route => ({ ...route, chat: route.chat ?? chat })),
    apiRoot: apiRoot.replace(/\/+$/, ''),
  }));

const slack = z
  .strictObject({
    channel: slackChannel,
    routes: z
      .array(z.strictObject({ namespaces: nonEmptyListOf(namespaceGlob, 'such as ["shop-*"]'), channel: slackChannel }))
      .prefault([]),
    apiUrl: url().prefault('https://slack.com/api/'),
  })
  .transform(({ channel, routes, apiUrl }) => ({
    channel,
    routes: routes.map((route): Route => ({ namespaces: route.namespaces, chat: route.channel })),
    apiUrl: apiUrl.replace(/\/*$/, '/'),
  }));

const channels = z
  .strictObject({
    telegram: telegram.optional(),
    slack: slack.optional(),
    console: z.strictObject({}).optional(),
  })
  .superRefine(
    (given, context) => {
      if (Object.keys(given).length === 0)
        addIssue(context, { wrong: 'needs at least one channel', hint: 'telegram, slack or console: {}' });
    },
    // Also checked beside other problems, so that all are reported at once.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .prefault({});

const patience = duration('0s', '24h');
const glob = anyText('a name or a pattern', 'such as "nightly-*"; * matches any run of characters, ? one');

const ignoreRule = z
  .strictObject({
    namespace: glob.optional(),
    kind: glob.optional(),
    name: glob.optional(),
    class: glob.optional(),
  })
  .superRefine(
    (rule, context) => {
      if (Object.keys(rule).length === 0)
        addIssue(context, {
          wrong: 'is empty and would ignore everything',
          hint: 'give it a namespace, kind, name or class',
        });
    },
    // A rule whose only key is mistyped is not empty.
    { when: ({ issues }) => issues.length === 0 },
  );

/** The limit of the CRD: with a longer class every Remediation would be refused. */
const longestClass = 64;

const extraReason = z
  .strictObject({
    reason: text(
      'an event reason',
      /^\S+$/,
      'one word, as in the REASON column of kubectl get events',
      'such as reason: CertificateExpired',
    ),
    class: text(
      'a class name',
      /^[A-Z][A-Za-z0-9]{0,63}$/,
      'one word of at most 64 letters and digits that begins with a capital letter',
    ).optional(),
    severity: oneOf(severityNames).prefault('warning'),
    for: patience.prefault('1m'),
  })
  .superRefine(({ reason, class: own }, context) => {
    if (own === undefined && reason.length > longestClass)
      addIssue(
        context,
        {
          wrong: `is longer than the ${longestClass} characters of a class, and would be its own`,
          hint: `name a class of at most ${longestClass} characters beside it, such as class: BackupFailed`,
        },
        ['reason'],
      );
  })
  .transform((extra) => ({ ...extra, class: extra.class ?? extra.reason }));

const classRule = z.strictObject({
  enabled: yesOrNo.optional(),
  for: patience.optional(),
  severity: oneOf(severityNames).optional(),
});

const placeholders = ['namespace', 'name', 'kind', 'cluster'];

/** The values come from the cluster, so they may not decide which host a person is sent to. */
const link = z
  .strictObject({
    label: anyText('a label', 'such as label: Dashboard'),
    url: url(),
    class: glob.prefault('*'),
    namespace: glob.prefault('*'),
  })
  .superRefine(
    ({ url: template }, context) => {
      const [unknown] = [...template.matchAll(/\{([^{}]*)\}/g)].filter(([, key]) => !placeholders.includes(key!));
      if (unknown)
        addIssue(context, { wrong: `has no value for ${unknown[0]}`, hint: didYouMean(unknown[1]!, placeholders) }, [
          'url',
        ]);
      if (/^https?:\/\/[^/?#]*[{}]/i.test(template))
        addIssue(context, { wrong: 'has a placeholder in its host', hint: 'only in the path or the query' }, ['url']);
    },
    { when: ({ issues }) => issues.length === 0 },
  );

const ignore = z.array(ignoreRule).prefault([]);
const classes = z.record(z.string(), classRule).prefault({});
const extraReasons = z.array(extraReason).prefault([]);
const links = z.array(link).prefault([]);

interface Named {
  classes: Record<string, unknown>;
  ignore: { class?: string }[];
  extraReasons: { class: string }[];
  links: { class: string }[];
}

/** Class names are a closed list, plus those that extraReasons adds. */
function reportUnknownClasses({ classes, ignore, extraReasons, links }: Named, context: z.core.$RefinementCtx): void {
  const own = listIn(extraReasons)
    .map((extra) => extra?.class)
    .filter((name) => typeof name === 'string');
  const known: string[] = [...classNames, ...own];
  const complain = (name: string, path: PropertyKey[], words = known): void =>
    addIssue(context, { wrong: `there is no class ${JSON.stringify(name)}`, hint: classHint(name, words) }, path);

  // A list in its place is another mistake, and is reported as that.
  const named = Array.isArray(classes) ? [] : Object.keys(classes ?? {});
  for (const name of named) if (!known.includes(name)) complain(name, ['classes', name]);
  for (const [index, rule] of listIn(ignore).entries()) {
    const name = rule?.class;
    if (typeof name === 'string' && isLiteral(name) && !known.includes(name))
      complain(name, ['ignore', index, 'class']);
  }
  for (const [index, one] of listIn(links).entries()) {
    const name = one?.class;
    if (typeof name === 'string' && isLiteral(name) && !known.includes(name)) complain(name, ['links', index, 'class']);
  }
  for (const [index, name] of own.entries()) {
    const near = closest(name, classNames);
    if (near && near !== name && editsApart(name, near) <= 1) complain(name, ['extraReasons', index, 'class'], [near]);
  }
}

const isObject = ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null;

/** The gaps between a message that nobody answers and its reminders; the last one repeats. */
const usualReminders = [600_000, 1_800_000, 3_600_000];
/** More of them would be a calendar. */
const mostReminders = 10;

const reminders = z.array(duration('1s', '24h')).superRefine((gaps, context) => {
  if (gaps.length > mostReminders)
    addIssue(context, { wrong: `must not list more than ${mostReminders}`, hint: 'the last one repeats' });
});

const notices = z
  .strictObject({
    coalesce: duration('0s', '60s').prefault('5s'),
    maxPerMinute: whole(1, 20).prefault(4),
    storm: z.strictObject({ incidents: whole(1, 1000).prefault(10) }).prefault({}),
    reminders: reminders.optional(),
    /** The key of earlier versions: one reminder, or none. */
    reminder: duration('0s', '24h').optional(),
  })
  .superRefine(
    (given, context) => {
      if (given.reminder !== undefined && given.reminders !== undefined)
        addIssue(
          context,
          {
            wrong: 'cannot stand beside notices.reminders, which replaces it',
            hint: 'keep reminders: [10m, 30m, 1h] for reminders that go on, or reminder: 10m for a single one',
          },
          ['reminder'],
        );
    },
    { when: isObject },
  )
  .transform(({ reminders: gaps, reminder, ...others }) =>
    reminder === undefined
      ? { ...others, reminders: gaps ?? usualReminders }
      : { ...others, reminders: reminder === 0 ? [] : [reminder], reminder },
  )
  .prefault({});

const leaderElection = z
  .strictObject({
    leaseDuration: duration('1s', '60s').prefault('6s'),
    renewDeadline: duration('500ms', '60s').prefault('4s'),
    retryPeriod: duration('100ms', '60s').prefault('1s'),
  })
  .prefault({})
  .superRefine(
    ({ leaseDuration, renewDeadline, retryPeriod }, context) => {
      // Each margin is the time in which a leader that is stopped stops before another one begins.
      if (renewDeadline >= leaseDuration)
        addIssue(context, { wrong: 'must be shorter than leaseDuration', hint: 'such as 4s of 6s' }, ['renewDeadline']);
      if (retryPeriod >= renewDeadline)
        addIssue(context, { wrong: 'must be shorter than renewDeadline', hint: 'such as 1s of 4s' }, ['retryPeriod']);
    },
    { when: ({ issues }) => issues.length === 0 },
  );

const listIn = <T>(value: readonly T[]): readonly T[] => (Array.isArray(value) ? value : []);

/** The configuration after loading: defaults filled in, every duration in milliseconds. */
export interface Approver {
  name: string;
  telegram?: number;
  slack?: string;
  namespaces?: string[];
  kubernetesUser?: string;
  kubernetesGroups: string[];
}
export interface Route {
  namespaces: string[];
  chat?: string;
  thread?: string;
}
/** A link that Details show, with the values of the incident in the place of {namespace}, {name}, {kind}, {cluster}. */
export interface LinkTemplate {
  label: string;
  url: string;
  /** Globs of the classes and namespaces that it is shown for. */
  class: string;
  namespace: string;
}
export interface Config {
  cluster: string;
  namespaces: { include: string[]; exclude: string[] };
  ignore: { namespace?: string; kind?: string; name?: string; class?: string }[];
  classes: Record<string, { enabled?: boolean; for?: number; severity?: 'critical' | 'warning' | 'info' }>;
  extraReasons: { reason: string; class: string; severity: 'critical' | 'warning' | 'info'; for: number }[];
  notices: {
    coalesce: number;
    maxPerMinute: number;
    storm: { incidents: number };
    reminders: number[];
    reminder?: number;
  };
  escalation: EscalationStep[];
  links: LinkTemplate[];
  approval: { ttl: number; confirm: string[]; approvers: Approver[] };
  actions: { allow: string[] };
  recovery: { stableFor: number; timeout: number };
  retention: number;
  diagnosis: { logs: boolean };
  channels: {
    telegram?: { chat: string; routes: Route[]; apiRoot: string };
    slack?: { channel: string; routes: Route[]; apiUrl: string };
    console?: Record<string, never>;
  };
  heartbeat: { url: string; every: number };
  leaderElection: { leaseDuration: number; renewDeadline: number; retryPeriod: number };
  server: { host: string; port: number; localPort: number };
}

/** The contract of the file: every key, its limits and its default, as written in the file. */
export const configSchema = z
  .strictObject({
    cluster: anyText('a name', 'such as cluster: prod-eu'),
    namespaces,
    ignore,
    classes,
    extraReasons,
    notices,
    escalation,
    links,
    approval,
    actions: z.strictObject({ allow: z.array(oneOf(actionNames)).prefault([...actionNames]) }).prefault({}),
    recovery: z
      .strictObject({
        stableFor: duration('1s', '10m').prefault('30s'),
        timeout: duration('1s', '24h').prefault('10m'),
      })
      .prefault({}),
    retention: duration('1m', '8760h').prefault('168h'),
    diagnosis: z.strictObject({ logs: yesOrNo.prefault(false) }).prefault({}),
    channels,
    heartbeat: z
      .strictObject({ url: url({ orEmpty: true }).prefault(''), every: duration('1s', '24h').prefault('1m') })
      .prefault({}),
    leaderElection,
    server: z
      .strictObject({
        host: anyText('an address', 'such as 0.0.0.0, which is every address of the machine').prefault('0.0.0.0'),
        port: whole(0, 65535).prefault(8080),
        localPort: whole(0, 65535).prefault(8081),
      })
      .superRefine(({ port, localPort }, context) => {
        if (port === localPort && port !== 0)
          addIssue(context, { wrong: 'is server.port as well', hint: 'each needs a port of its own' }, ['localPort']);
      })
      .prefault({}),
  })
  .superRefine(reportUnknownClasses, { when: isObject })
  .superRefine(reportUnreachable, { when: isObject }) satisfies z.ZodType<Config>;
