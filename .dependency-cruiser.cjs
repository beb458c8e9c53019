/** The import rules of this repository; a violation fails `npm run check`. A service's entry says what it may call. */

const onlyFrom = (name, dependency, ...homes) => ({
  name: `${name}-has-one-home`,
  comment: `${name} is imported in ${homes.join(', ')} only.`,
  severity: 'error',
  from: {
    pathNot: [
      ...homes,
      '\\.test\\.ts$',
      '^(services|packages)/[^/]+/test/',
      '^test/',
      '^tools/',
      '^bench/',
      '^packages/testkit/',
    ],
  },
  to: { path: `(^|node_modules/)${dependency}` },
});

const { services } = require('./packages/system/src/services.ts');

/** A service knows its own contracts and those of the services that it calls. */
const contractsOfCalledServices = services.map(({ name, calls }) => ({
  name: `${name}-calls-only-what-it-says`,
  comment: `The entry of ${name} in packages/system/src/services.ts names the services that it calls.`,
  severity: 'error',
  from: { path: `^services/${name}/src/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: '^packages/contracts/src/gen/ticketing/',
    pathNot: `^packages/contracts/src/gen/ticketing/(api|events|${[name, ...calls].join('|')})/`,
  },
}));

/** The folders of packages that have some; a folder imports only those before it. */
const foldersOfPackages = {
  rest: ['codec', 'limits', 'routes', 'documents'],
  store: ['document', 'connection', 'quota', 'cache', 'paging', 'ids', 'leases', 'idempotency', 'audit', 'change-log'],
  events: ['bus', 'outbox', 'inbox', 'dead-letters', 'consumer'],
  'service-kit': [
    ...['identity', 'call', 'admission', 'config', 'observability', 'tls', 'client', 'settings', 'deletions'],
    ...['handlers', 'server', 'operations', 'lifecycle'],
  ],
};
const foldersInOrder = Object.entries(foldersOfPackages).flatMap(([name, folders]) =>
  folders.map((folder, index) => ({
    name: `${name}-${folder}-imports-only-folders-before-it`,
    severity: 'error',
    from: { path: `^packages/${name}/src/${folder}/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: `^packages/${name}/src/`,
      pathNot: `^packages/${name}/src/(${folders.slice(0, index + 1).join('|')})/`,
    },
  })),
);

/**
 * The features of services, each with those that it may import. The files beside them are wiring, which none imports but
 * the environment and the settings of the service, and those in `shared`. The wiring hands in what a feature needs of one
 * above it.
 */
const arrows = {
  intents: {
    agent: [],
    intent: ['agent'],
    session: [],
    learning: [],
    detection: ['agent', 'intent', 'learning'],
    execution: ['agent', 'intent'],
  },
  settings: {
    feed: [],
    setting: [],
    subchannel: ['setting'],
    webhook: ['setting', 'feed'],
    'webhook/delivery': ['webhook', 'feed'],
    'webhook/dispatcher': ['webhook', 'webhook/delivery', 'feed'],
  },
  templates: {
    rendering: [],
    'email-template': ['rendering'],
    template: ['email-template', 'rendering'],
  },
  knowledge: { source: [], skill: [] },
  reporting: { row: [], export: ['row'] },
  gateway: {
    request: [],
    session: ['request'],
    admission: ['request', 'session'],
    proxy: ['request', 'admission'],
    page: ['request', 'session', 'proxy'],
  },
  tickets: {
    rules: [],
    text: [],
    tag: ['rules'],
    customer: ['rules', 'tag'],
    ticket: ['rules', 'text', 'tag', 'customer'],
    queue: ['ticket', 'tag'],
    bulk: ['ticket', 'tag', 'customer', 'message'],
    message: ['rules', 'ticket', 'text', 'tag', 'customer'],
    history: ['ticket'],
    analysis: ['rules', 'ticket', 'tag', 'customer'],
    attachment: ['message', 'ticket'],
    erasure: ['ticket'],
    'inbound-mail': ['rules', 'message', 'ticket', 'text'],
    'outbound-mail': ['rules', 'message', 'ticket', 'text'],
  },
};
/** The folder of a feature, without the features that have a folder in it. */
const folderOf = (features, name) => {
  const inner = Object.keys(features).filter((other) => other.startsWith(`${name}/`));
  return inner.length === 0 ? `${name}/` : `${name}/(?!(${inner.map((one) => one.slice(name.length + 1)).join('|')})/)`;
};
const shared = { tickets: ['event-header'] };
const featuresFollowArrows = Object.entries(arrows).flatMap(([service, features]) =>
  Object.entries(features).map(([feature, used]) => {
    const [own, ...others] = [feature, ...used].map((name) => folderOf(features, name));
    return {
      name: `${service}-${feature}-follows-arrows`,
      comment: `The feature ${feature} of ${service} imports no other features but: ${used.join(', ') || 'none'}.`,
      severity: 'error',
      from: { path: `^services/${service}/src/${own}`, pathNot: '\\.test\\.ts$' },
      to: {
        path: `^services/${service}/src/`,
        pathNot: `^services/${service}/src/(${[own, ...others].join('|')}|(${['config', 'settings', ...(shared[service] ?? [])].join('|')})[.]ts$)`,
      },
    };
  }),
);

/** The pure files of a feature. */
const rules = ['^services/.+/rules/', '^services/.+/rules[.]ts$'];
/** The files that read and write the store of a service. */
const stores = ['^services/.+/store/', '^services/.+[/-](stores?|schema|indexes|query|document)[.]ts$'];

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'services-do-not-import-services',
      comment: 'Contexts talk through their contracts.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-are-composed-by-tools-and-tests',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'packages-do-not-import-tools',
      severity: 'error',
      from: { path: '^(packages|services)/' },
      to: { path: '^(tools|test|bench)/' },
    },
    {
      name: 'testkit-is-for-development',
      severity: 'error',
      from: { path: '^(packages|services)/[^/]+/src/', pathNot: ['\\.test\\.ts$', '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'Rules do no I/O, and know no framework and nothing of their service but other rules, not even types.',
      severity: 'error',
      from: { path: rules, pathNot: '\\.test\\.ts$' },
      to: {
        path: [
          '^services/[^/]+/src/',
          'node_modules/(fastify|mongoose|@connectrpc|kafkajs|undici|pino)',
          '^packages/(service-kit|store|events|sandbox|embedded-mongo)/',
          // attachment.ts defines the elements and limits of a list of files, which are rules.
          '^packages/files/src/(?!attachment\\.ts$)',
        ],
        pathNot: rules,
      },
    },
    {
      name: 'rules-do-no-io',
      comment: 'Of Node, rules use only functions of their arguments.',
      severity: 'error',
      from: { path: rules, pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|url|util)$' },
    },
    {
      name: 'stores-know-only-rules',
      comment: 'A store is called by handlers; it knows other stores and rules.',
      severity: 'error',
      from: { path: stores, pathNot: '\\.test\\.ts$' },
      to: { path: '^services/[^/]+/src/', pathNot: [...stores, ...rules] },
    },
    {
      name: 'rest-stands-alone',
      severity: 'error',
      from: { path: '^packages/rest/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/', pathNot: ['^packages/(rest|errors|runtime|contracts)/'] },
    },
    ...contractsOfCalledServices,
    ...featuresFollowArrows,
    ...foldersInOrder,
    // A service is named here because only its work needs the library: proxying, templates, spreadsheets.
    onlyFrom('mongoose', 'mongoose', ...stores, '^packages/(store|events|files)/'),
    onlyFrom('kafkajs', 'kafkajs', '^packages/events/'),
    onlyFrom('jose', 'jose/', '^packages/service-kit/'),
    onlyFrom('opentelemetry', '@opentelemetry/', '^packages/service-kit/'),
    onlyFrom('undici', 'undici/', '^(services/gateway|packages/outbound)/'),
    onlyFrom('http-proxy', '@fastify/http-proxy', '^services/gateway/'),
    onlyFrom('handlebars', 'handlebars', '^services/templates/'),
    onlyFrom('exceljs', 'exceljs', '^services/reporting/'),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    exclude: { path: ['^dist/', '^packages/client/dist/'] },
    doNotFollow: { path: ['node_modules'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
