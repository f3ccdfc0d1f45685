use Test::More;
ok(1, 'other');
done_testing;
