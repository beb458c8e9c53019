import './bulk.int.test.ts';
