"""Programs that run inside an environment, beside the code under test. They import nothing but the standard library."""
