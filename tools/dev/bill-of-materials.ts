import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library';
import type { Plugin } from 'rolldown';

const root = join(import.meta.dirname, '..', '..');
/** The names of both files in the folder of a built service. */
export const billFile = 'sbom.cdx.json';
export const licencesFile = 'THIRD-PARTY-LICENCES';

/** A package of which a bundle has a part. */
export interface BundledPackage {
  name: string;
  version: string;
  /** The licence in its package.json: an identifier or an expression of SPDX. */
  licence: string;
  homepage: string | undefined;
  /** The texts of its licence and its notices. */
  texts: readonly string[];
}

/**
 * Writes which packages are in the bundle of a service beside it: as CycloneDX for programs, and with the texts of their
 * licences for people. Both follow from the modules and files in the bundle. The same sources make the same files.
 */
export function billOfMaterials(service: string): Plugin {
  return {
    name: 'bill-of-materials',
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap((one) =>
        one.type === 'chunk' ? one.moduleIds : one.originalFileNames,
      );
      const packages = listPackages(files);
      this.emitFile({ type: 'asset', fileName: billFile, source: cycloneDx(service, packages) });
      this.emitFile({ type: 'asset', fileName: licencesFile, source: licenceTexts(service, packages) });
    },
  };
}

/** The packages to which files belong, by name and version. Errors: a package that names no licence. */
function listPackages(files: readonly string[]): BundledPackage[] {
  // Folders that begin with a dot are no packages.
  const folders = new Set(files.flatMap((id) => /^.*\/node_modules\/(@[^/]+\/)?[^./][^/]*/.exec(id)?.[0] ?? []));
  const packages = [...folders].flatMap((folder) => readPackage(folder));
  const toKey = ({ name, version }: BundledPackage) => `${name} ${version}`;
  const byKey = new Map(packages.map((one) => [toKey(one), one]));
  return [...byKey.values()].sort((a, b) => (toKey(a) < toKey(b) ? -1 : 1));
}

interface PackageJson {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  devDependencies?: Record<string, string>;
}

function readPackage(folder: string): BundledPackage[] {
  const json = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
  const { name, version, license, homepage } = json;
  if (!license) throw new Error(`${folder} names no licence.`);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const found = { name, version, licence: license, homepage, texts: texts.length > 0 ? texts : standardTexts(license) };
  // This package has the built files of another one.
  const copied = name === '@fastify/swagger-ui' ? json.devDependencies?.['swagger-ui-dist'] : undefined;
  if (copied === undefined) return [found];
  const licence = 'Apache-2.0';
  const swaggerUi = { name: 'swagger-ui-dist', version: copied, licence, homepage: 'https://swagger.io' };
  return [found, { ...swaggerUi, texts: standardTexts(licence) }];
}

/** The text of a licence that is the same for every package, for those that do not bring it. */
function standardTexts(licence: string): string[] {
  const file = join(root, 'node_modules', '@cyclonedx', 'cyclonedx-library', 'LICENSE');
  return licence === 'Apache-2.0' && existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [];
}

function cycloneDx(service: string, packages: readonly BundledPackage[]): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  const subject = new Models.Component(Enums.ComponentType.Application, `ticketing-${service}`, {
    bomRef: `ticketing-${service}@${version}`,
    version,
  });
  subject.licenses.add(toLicence('MIT'));
  const bill = new Models.Bom();
  bill.metadata.component = subject;
  for (const one of packages) {
    const component = new Models.Component(Enums.ComponentType.Library, one.name, {
      bomRef: toPurl(one),
      purl: toPurl(one),
      version: one.version,
    });
    component.licenses.add(toLicence(one.licence));
    bill.components.add(component);
    subject.dependencies.add(component.bomRef);
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(factory).serialize(bill, { sortLists: true, space: 2 })}\n`;
}

/** The address of a package, as https://github.com/package-url/purl-spec defines it. */
function toPurl({ name, version }: BundledPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function toLicence(licence: string): Models.License {
  if (SPDX.isSupportedSpdxId(licence)) return new Models.SpdxLicense(licence);
  return / (AND|OR|WITH) /.test(licence) ? new Models.LicenseExpression(licence) : new Models.NamedLicense(licence);
}

const rule = '-'.repeat(78);

function licenceTexts(service: string, packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, licence, homepage, texts }) => {
    const head = [`${rule}\n${name} ${version}`, `Licence: ${licence}`, ...(homepage ? [homepage] : []), ''];
    return [...head, ...(texts.length > 0 ? texts : ['The package brings no text of its licence.'])].join('\n');
  });
  const head = `The ${service} service contains parts of these ${packages.length} packages.`;
  return `${head}\n\n${parts.join('\n\n')}\n`;
}
