import './search-scope.int.test.ts';
