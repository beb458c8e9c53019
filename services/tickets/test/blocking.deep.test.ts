import './blocking.int.test.ts';
