import './fields.int.test.ts';
