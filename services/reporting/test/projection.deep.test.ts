import './projection.int.test.ts';
