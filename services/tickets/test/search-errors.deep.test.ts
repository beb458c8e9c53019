import './search-errors.int.test.ts';
