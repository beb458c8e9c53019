import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNamed, services } from '@ticketing/system/services.ts';
import { billFile, licencesFile } from '../dev/bill-of-materials.ts';
import { currentBuild } from '../dev/build.ts';
import { declareCommand } from './command.ts';

const usage = `Prints which packages are in the bundle of a service, and so in its image:

  npm run --silent sbom -- tickets              as CycloneDX (JSON)
  npm run --silent sbom -- tickets --licences   the texts of their licences

Both are in the image too, as ${billFile} and ${licencesFile} in /app.

Services: ${services.map(({ name }) => name).join(', ')}
`;

const options = { licences: { type: 'boolean', default: false } } as const;

export const command = declareCommand({ usage, options, words: 'some' }, async (values, [service = '']) => {
  const folder = join(await currentBuild(), serviceNamed(service).name);
  process.stdout.write(readFileSync(join(folder, values.licences ? licencesFile : billFile)));
});
