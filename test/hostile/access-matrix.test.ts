import { readFileSync } from 'node:fs';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { toMatrix } from './access-matrix.ts';

// guarantee: C4
// asvs: 6.3.4
test('the matrix of who may call what has every method of every contract', () => {
  const image = fromBinary(FileDescriptorSetSchema, readFileSync('packages/contracts/src/contract.binpb'));
  const declared = image.file.flatMap((file) =>
    file.service.flatMap(({ name, method }) => method.map((one) => `${file.package}.${name}/${one.name}`)),
  );
  const tried = toMatrix(services).flatMap(({ methods }) =>
    methods.map(({ parent, name }) => `${parent.typeName}/${name}`),
  );
  const ours = declared.filter((name) => name.startsWith('ticketing.'));
  expect(ours.length).toBeGreaterThan(70);
  expect(tried.sort()).toEqual(ours.sort());
});
