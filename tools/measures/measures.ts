import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { declareCommand } from '../cli/command.ts';

/**
 * The rules of the measures:
 *
 * - Source by hand: tracked .ts and .mjs files that are not generated. Tests: *.test.ts, everything in a folder test/, and
 *   packages/testkit.
 * - Import closure: the files of this repository that are loaded by value imports; generated code and `import type` do not
 *   count.
 * - A function is given the dependencies of a parameter that has a type annotation: those members that can be called or have
 *   methods, and are declared in this repository. A parameter whose members are all methods is one dependency, as a store.
 * - A limit of attempts is a number in a constant, default or property named like maxAttempts, maxTries or maxRetries.
 */
const usage = `Measures the size and the shape of the source, as far as a program can:

  npm run measures

  --json  prints one object
`;

const root = join(import.meta.dirname, '..', '..');
const maxDependencies = 8;
/** The handler of \`POST /ticket\`, and the entries that its request passes through. */
const createTicket = 'services/tickets/src/ticket/create.ts';
const requestPath = [
  'services/gateway/src/proxy/routes.ts',
  'packages/service-kit/src/lifecycle/open-servers.ts',
  'packages/rest/src/routes/rest-api.ts',
  createTicket,
];

const isTest = (file: string) => /\.test\.ts$|(^|\/)test\/|^packages\/testkit\//.test(file);
const isProduct = (file: string) => /^(packages|services)\/[^/]+\/src\//.test(file) && !isTest(file);
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const lines = (file: string) => read(file).split('\n').length - 1;
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export const command = declareCommand(
  { usage, options: { json: { type: 'boolean', default: false } } },
  ({ json }, _words, { print }) => {
    const measures = measure();
    if (json) print(JSON.stringify(measures, null, 2));
    else for (const [name, value] of Object.entries(measures)) print(`${name.padEnd(70)} ${value}`);
  },
);

/** Returns the numbers by the names of the measures. */
function measure(): Record<string, number> {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const files = tracked.filter((file) => existsSync(join(root, file)));
  const code = files.filter((file) => /\.(ts|mjs)$/.test(file) && !/\/gen\//.test(file));
  const protos = files.filter((file) => file.endsWith('.proto'));
  const [source, tests] = [code.filter((file) => !isTest(file)), code.filter(isTest)];
  const tickets = source.filter((file) => file.startsWith('services/tickets/src/'));
  const product = source.filter(isProduct);
  const parsed = new Map(product.map((file) => [file, parse(file)]));
  const names = [...parsed.values()].flatMap(functionNames).filter((name) => /[a-z]Of$/.test(name));
  const ofMany = functionsOfMany(product);
  const closures = { handler: importClosure([createTicket]), path: importClosure(requestPath) };
  return {
    'files of services/tickets/src': tickets.length,
    'lines of services/tickets/src': sum(tickets.map(lines)),
    'import closure of the handler of POST /ticket, files': closures.handler.size,
    'import closure of the handler of POST /ticket, lines': sum([...closures.handler].map(lines)),
    'import closure of the path of POST /ticket, files': closures.path.size,
    'import closure of the path of POST /ticket, lines': sum([...closures.path].map(lines)),
    [`functions given more than ${maxDependencies} dependencies`]: ofMany.length,
    [`functions of tickets given more than ${maxDependencies} dependencies`]: ofMany.filter((file) =>
      file.includes('/services/tickets/'),
    ).length,
    'limits of attempts': sum([...parsed.values()].map(countAttemptLimits)),
    'functions named …Of': names.length,
    'functions named …Of, different names': new Set(names).size,
    'sentences of comments that begin with What, That, Those, Who or Also': sum(
      [...code, ...protos].map(countOddSentences),
    ),
    'words of Markdown': sum(
      files.filter((file) => file.endsWith('.md')).map((file) => read(file).split(/\s+/).length),
    ),
    'files of source by hand': source.length,
    'lines of source by hand': sum(source.map(lines)),
    'files of tests': tests.length,
    'lines of tests': sum(tests.map(lines)),
    'lines of proto': sum(protos.map(lines)),
  };
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** Returns the files that a program with these entries loads. */
function importClosure(entries: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    waiting.push(...importedFiles(file).filter((one) => !/\/gen\//.test(one)));
  }
  return seen;
}

function importedFiles(file: string): string[] {
  return parse(file).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier) || isErased(statement)) return [];
    const [, workspace, path] = /^@ticketing\/([^/]+)\/(.+)$/.exec(moduleSpecifier.text) ?? [];
    const candidates = moduleSpecifier.text.startsWith('.')
      ? [relative(root, resolve(root, dirname(file), moduleSpecifier.text))]
      : ['packages', 'services'].map((folder) => `${folder}/${workspace}/src/${path}`);
    return candidates.filter((one) => existsSync(join(root, one)));
  });
}

/** Whether an import has types only. */
function isErased(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  const { importClause } = statement;
  if (importClause === undefined) return false;
  const { namedBindings } = importClause;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (importClause.name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

/** Returns the file of each function of a service that has a parameter with more than `maxDependencies` dependencies. */
function functionsOfMany(product: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const services = product.filter((file) => file.startsWith('services/')).map((file) => join(root, file));
  const program = ts.createProgram(services, options);
  const checker = program.getTypeChecker();
  const isOurs = ({ declarations = [] }: ts.Symbol) =>
    declarations.some((one) => !one.getSourceFile().fileName.includes('/node_modules/'));
  const isCallable = (type: ts.Type) => type.getCallSignatures().length > 0;
  const hasMethods = (type: ts.Type) =>
    type.getProperties().some((one) => isOurs(one) && isCallable(checker.getTypeOfSymbol(one)));
  const countMembers = (members: readonly ts.Symbol[]) => {
    const types = members.map((member) => checker.getNonNullableType(checker.getTypeOfSymbol(member)));
    const objects = types.filter((type) => !isCallable(type) && hasMethods(type)).length;
    return objects === 0 ? 1 : objects + types.filter(isCallable).length;
  };
  const counts = new Map<ts.Type, number>();
  const countDependencies = (annotation: ts.TypeNode) => {
    const type = checker.getTypeFromTypeNode(annotation);
    const count = counts.get(type) ?? countMembers(type.getProperties().filter(isOurs));
    counts.set(type, count);
    return count;
  };
  const found: string[] = [];
  for (const file of services) {
    visit(program.getSourceFile(file) as ts.SourceFile, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
      const dependencies = node.parameters.map(({ type }) => (type === undefined ? 0 : countDependencies(type)));
      if (Math.max(0, ...dependencies) > maxDependencies) found.push(node.getSourceFile().fileName);
    });
  }
  return found;
}

function functionNames(file: ts.SourceFile): string[] {
  const names: string[] = [];
  visit(file, (node) => {
    const value = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) ? node.initializer : node;
    if (value === undefined || !ts.isFunctionLike(value) || !('name' in node)) return;
    if (node.name !== undefined && ts.isIdentifier(node.name as ts.Node)) names.push((node.name as ts.Identifier).text);
  });
  return names;
}

function countAttemptLimits(file: ts.SourceFile): number {
  let count = 0;
  visit(file, (node) => {
    if (!('name' in node && 'initializer' in node)) return;
    const name = (node.name as ts.Node).getText();
    const value = node.initializer as ts.Node | undefined;
    if (/^#?max\w*(attempts|tries|retries)\w*$/i.test(name) && value && ts.isNumericLiteral(value)) count += 1;
  });
  return count;
}

/** Counts the sentences of comments that begin with a word that says neither a subject nor a verb. */
function countOddSentences(file: string): number {
  const comments = read(file).match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/ .*(?:\n\s*\/\/ .*)*/gm) ?? [];
  const texts = comments.map((comment) => comment.replace(/^\s*(?:\/\/|\/?\*+)\s?/gm, '').trim());
  return sum(texts.map((text) => text.match(/(?:^|[.:]\s+|\n\n)(?:What|That|Those|Who|Whoever|Also)\b/g)?.length ?? 0));
}
