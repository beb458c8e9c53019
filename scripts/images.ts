import { print, runScript, UsageError } from '../tools/dev/run-script.ts';
import { buildImages, findEngine, imageServices } from '../tools/images/build-images.ts';

const usage = `Builds the images of the services with podman or docker, and prints their names:

  npm run images

  --service NAME   only this one; may be repeated
  --prefix PREFIX  what stands before the name of the service (localhost/ticketing/)
  --tag TAG        the tag (dev)
  --engine PROGRAM podman or docker (whichever runs here)
`;

const options = {
  service: { type: 'string', multiple: true },
  prefix: { type: 'string', default: 'localhost/ticketing/' },
  tag: { type: 'string', default: 'dev' },
  engine: { type: 'string' },
} as const;

await runScript({ usage, options }, (values) => {
  const names = values.service ?? imageServices;
  const unknown = names.find((name) => !imageServices.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no service ${unknown}.`);
  const engine = values.engine ?? findEngine();
  if (engine === undefined) throw new UsageError('Neither podman nor docker runs here.');
  const { prefix, tag } = values;
  for (const image of buildImages({ engine, prefix, tag, names })) print(image);
});
