use Test::More tests => 7;
ok(1, 'adds');
ok(0, 'subtracts');
ok(1, 'a # in its name');
SKIP: { skip 'not today', 1; ok(1, 'waits'); }
TODO: { local $TODO = 'later'; ok(0, 'comes later'); ok(1, 'comes already'); }
subtest 'parts' => sub { plan tests => 2; ok(1, 'inner'); ok(1, 'inner too'); };
