import './training.int.test.ts';
