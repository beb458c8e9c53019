import { create } from '@bufbuild/protobuf';
import {
  ExportFormat,
  ExportReportingTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { expect, test } from 'vitest';
import { planExport } from './plan.ts';

const toPlan = (request: object) => {
  const settings = { reportingPrivacyLevel: 'none', defaultDateExportFormat: ExportFormat.CSV } as const;
  const { format, rows } = planExport(create(ExportReportingTicketsRequestSchema, request), settings, 0);
  return { format, limit: rows.limit, offset: rows.offset };
};

// spec: 30.2, 30.3, 30.4
test('an export has the first 100 rows in the format of the setting, unless the request says otherwise', () => {
  expect(toPlan({})).toEqual({ format: ExportFormat.CSV, limit: 100, offset: 0 });
  expect(toPlan({ limit: 1000, offset: 7, format: ExportFormat.JSON })).toEqual({
    ...{ format: ExportFormat.JSON, limit: 1000, offset: 7 },
  });
  expect(toPlan({ all: true })).toEqual({ format: ExportFormat.CSV, limit: undefined, offset: 0 });
});
